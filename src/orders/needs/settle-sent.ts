import { journalCommand } from '../../journal/journal-command.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { sentWithOtherKey } from '../../journal/take-over.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { OrderRecord } from '../order-record.ts';
import { readOrder } from '../submit/existing.ts';
import { asOrder, intentOf } from '../submit/intent.ts';
import { decideWithService } from './decide-with-service.ts';
import { referenceIn } from './reference.ts';
import { knownScopeOf, scopeOf } from './scope.ts';
import { sourcesFor } from './settle.ts';
import { windowsOf } from './windows.ts';

/**
 * Settles a request for a reference and never resends it. Searches for the request's order. If the service has none,
 * gives the request up. If the request already has an order, this run reports that order.
 * @returns the order; undefined if the request had no effect.
 * @throws ErrandError in_doubt, with the commands that settle the request, as long as the outcome is unknown.
 */
export async function settleSent(
  context: OrderContext,
  record: JournalRecord,
): Promise<OrderRecord | undefined> {
  const { key, base_url: baseUrl } = record;
  const journal = await context.journal();
  let cause: ErrandError | undefined;
  if (record.state === 'intended')
    try {
      if (!(await isOfAccount(context, record))) throw sentWithOtherKey(record);
      await searchSent(context, record);
    } catch (error) {
      if (!(error instanceof ErrandError) || stopOf(error)) throw error;
      cause = error;
    }
  const found = journal.find(key, baseUrl);
  if (!found || found.state === 'intended' || found.state === 'damaged')
    throw inDoubt(context, record, cause);
  if (found.order_id === null) return undefined;
  journal.recall(found);
  return readOrder(await context.client(), found.order_id);
}

/**
 * Whether a request was sent for the account in use: with the key in use, or with another key that is known to belong
 * to the same user. For another account, the request would become a second order.
 * @throws ErrandError if the account's user cannot be read.
 */
export async function isOfAccount(
  context: OrderContext,
  { account }: Pick<JournalRecord, 'account'>,
): Promise<boolean> {
  if (account === (await context.sender()).account) return true;
  const attempts = await (await context.journal()).attempts();
  await scopeOf(context, attempts);
  return (await knownScopeOf(context, attempts)).accounts.includes(account);
}

async function searchSent(context: OrderContext, record: JournalRecord): Promise<void> {
  const { idempotency_key: _, ...body } = await asOrder(record);
  const intent = await intentOf(context, 'order.create', { key: '', keyOrigin: 'made', body });
  const sources = await sourcesFor(context, { order: body, intent }, {}, { sendsAgain: false });
  const request = { door: 'standing', statement: {}, windows: windowsOf(context) } as const;
  await decideWithService(sources, request, body, referenceIn(body.metadata));
}

function inDoubt(
  context: OrderContext,
  { key, created_at: since }: JournalRecord,
  cause: ErrandError | undefined,
): ErrandError {
  const why = cause?.message ?? `${key} was sent, and what came of it is not known`;
  const where = whereFlags(context);
  return new ErrandError('in_doubt', `in doubt since ${since}: ${why}`, {
    ...cause?.facts,
    outcome: 'unknown',
    retryable: true,
    idempotencyKey: key,
    cause,
    next: [{ command: journalCommand('forget', key, where), when: 'to give it up, once you have looked' }],
  });
}
