import type { Attempt, AttemptScope } from '../../journal/attempts.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { isPaid, paidSender } from '../submit/intent.ts';

/** Where the orders of a run belong. @param operation that places them. */
export async function scopeOf(
  context: Pick<OrderContext, 'settings' | 'sender' | 'isRehearsal'>,
  operation = 'order.create',
): Promise<AttemptScope> {
  const { account } = isPaid(operation) ? paidSender : await context.sender();
  return {
    service: context.settings.baseUrl.value,
    accounts: [account],
    isTest: !isPaid(operation) && context.isRehearsal(),
  };
}

/** The journal's record of an attempt. A retry by v1 may have gone to another address. */
export function recordOf(
  journal: Journal,
  { settings: { baseUrl, legacyBaseUrl } }: Pick<OrderContext, 'settings'>,
  { key }: Pick<Attempt, 'key'>,
): JournalRecord | undefined {
  return journal.find(key, baseUrl.value) ?? journal.find(key, legacyBaseUrl.value);
}
