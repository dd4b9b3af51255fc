import { formatMoney } from '../../format/money.ts';
import { recordOfRow } from '../../journal/audit-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { ChainFacts } from '../reconcile/chain-facts.ts';
import type { Span } from './tally.ts';

/**
 * Notes about orders that this machine paid by challenge. The service's list does not contain such orders. Empty if
 * there are none. If the journal cannot be read, this is reported, but the report continues.
 */
export async function agentOrderNotes(context: Context, { since, before }: Span): Promise<string[]> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return [];
  const chain = new ChainFacts(baseUrl.value);
  try {
    for (const row of (await context.journal()).audit.rows()) chain.take(recordOfRow(row));
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    return [`agent orders of this machine are not known: ${error.message}`];
  }
  const made = [...chain.intents.values()].filter(
    ({ operation, state, at }) =>
      operation === 'agent.order.create' &&
      state === 'made' &&
      (since === undefined || Date.parse(at) >= Date.parse(since)) &&
      (before === undefined || Date.parse(at) < Date.parse(before)),
  );
  if (made.length === 0) return [];
  const sums = new Map<string, number>();
  for (const { paid } of made)
    if (paid) sums.set(paid.currency, (sums.get(paid.currency) ?? 0) + Number(paid.amount));
  const paid = [...sums].map(([currency, cents]) => formatMoney(cents, currency)).join(' and ');
  return [
    `not included: ${made.length === 1 ? '1 agent order' : `${made.length} agent orders`} of this machine${paid === '' ? '' : `, ${paid} paid up front`}; the service does not list them`,
  ];
}
