import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import type { JournalRecord } from '../state/journal.ts';
import { type Placed, send } from './place.ts';

/**
 * Settles an intent in doubt: the same body with the same key is sent again to the same service.
 * A record that is settled already answers with its order. @throws ErrandError conflict for one that was refused or
 * forgotten, or that belongs to another service than the one in use.
 */
export async function resumeIntent(context: Context, record: JournalRecord): Promise<Placed> {
  const client = await context.client();
  checkService(context, record);
  if (record.state === 'settled' && record.order_id !== null) {
    const { body: order } = await client.call('order.get', { path: { order_id: record.order_id } });
    return { order, existed: true };
  }
  if (record.state !== 'open') {
    const why = record.message ? ` (${record.message})` : '';
    throw new ErrandError('conflict', `${record.key} is not in doubt: it was ${record.state}${why}`);
  }
  const { checkShape } = await import('../contract/schemas/check.ts');
  const checked = checkShape('OrderCreate', record.body, 'body');
  if (!checked.value)
    throw new ErrandError('unexpected', `the journal's record ${record.key} does not hold an order`);
  (await context.journal()).claim(record);
  return send(context, client, { ...checked.value, idempotency_key: record.key }, 'again');
}

function checkService(context: Context, record: JournalRecord): void {
  const { profile, baseUrl } = context.settings;
  if (record.base_url === baseUrl.value) return;
  throw new ErrandError(
    'conflict',
    `${record.key} was sent to ${record.base_url}, and this profile is ${baseUrl.value}`,
    {
      outcome: 'not_sent',
      next: [
        {
          command: `errand order journal resume ${record.key} --profile ${record.profile} --base-url ${record.base_url}`,
          when: `to settle it where it was sent (now: ${profile.value})`,
        },
      ],
    },
  );
}
