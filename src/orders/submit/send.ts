import type { ErrorCode } from '../../api/error-codes.ts';
import type { CallOptions, Client } from '../../http/client.ts';
import { ServiceError, UnpaidOrderError } from '../../http/errors.ts';
import { type Grant, readGrant } from '../../http/payment-credential.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent, KeyOrigin } from '../../journal/journal-record.ts';
import { MadeTwiceError, type RecordResult } from '../../journal/record-result.ts';
import { ErrandError, type NextStep } from '../../platform/errors.ts';
import { clearInterval, setInterval } from '../../platform/own-timers.ts';
import { typedCommand, withoutOption } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { isOtherOrder } from '../compare.ts';
import { isCertain, leftInDoubt, type Sending } from '../doubt.ts';
import type { IdentifiedOrder, OrderRecord } from '../order-record.ts';
import { existingId, namesAnother, readExisting, withoutId } from './existing.ts';
import { type KeyedBody, labelsOf, type Placed } from './intent.ts';

/**
 * Makes an order from an intent: with an account's key, or with a payment. For an order that is paid for, also returns
 * a `grant`.
 */
export type Create = (
  client: Client,
  body: KeyedBody,
  options: CallOptions,
) => Promise<{ readonly order: IdentifiedOrder; readonly grant?: Grant }>;

/** A journaled intent, and what is sent for it. */
interface Sendable {
  readonly intent: Pick<Intent, 'key' | 'baseUrl' | 'operation'> & { readonly keyOrigin: KeyOrigin };
  readonly body: KeyedBody;
  readonly sending: Sending;
  readonly create?: Create;
}

const byAccount: Create = async (client, body, options) => {
  const { body: order } = await client.call('order.create', { body }, options);
  return { order };
};

/** Sends a journaled intent and records the outcome. */
export async function send(context: OrderContext, client: Client, sendable: Sendable): Promise<Placed> {
  const { intent, body, sending, create = byAccount } = sendable;
  try {
    const { order, grant } = await create(client, body, await heldCall(context, intent));
    await checkMade(context, sendable, order);
    await settleIntent(context, intent, order.id, { grant, madeAt: madeAt(order) });
    return { order, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (error.facts.code === ('already_exists' satisfies ErrorCode))
      return adoptExisting(context, client, sendable, error);
    if (sending === 'again' || !isCertain(error)) throw await leftInDoubt(context, error, intent, sending);
    const { category, message, facts } = await refuseIntent(context, intent, error);
    const next = error instanceof UnpaidOrderError ? afterPaying(context, intent, error) : undefined;
    throw new ErrandError(category, message, {
      ...{ ...facts, idempotencyKey: intent.key, cause: error },
      ...(next && { next }),
    });
  }
}

/**
 * The command to run once the order is paid for. Repeats the current command with the key of the order, unless the
 * current command leads to that key anyway.
 */
function afterPaying(
  { argv = [] }: OrderContext,
  { key, keyOrigin }: Sendable['intent'],
  { page }: UnpaidOrderError,
): readonly NextStep[] | undefined {
  if (!argv.includes('create')) return undefined;
  const same = withoutOption(argv, '--idempotency-key').filter(
    (word) => word !== '--new' && word !== '--again',
  );
  const command =
    keyOrigin === 'chosen' ? typedCommand(argv) : typedCommand([...same, '--idempotency-key', key]);
  return [{ command, when: `once it is paid for${page ? ` at ${page.href}` : ''}` }];
}

/**
 * Guards against a cache that responds with another order.
 * @throws ErrandError in_doubt if the response describes another order.
 */
async function checkMade(
  context: OrderContext,
  { intent, body }: Sendable,
  order: IdentifiedOrder,
): Promise<void> {
  // Compare by address too, because sandboxes with the same seed produce the same order ids.
  const at = context.isRehearsal() ? intent.baseUrl : undefined;
  const other = (await context.journal()).otherKeyOf(order.id, intent.key, at);
  if (other === undefined && !isOtherOrder(body, order)) return;
  const why = other === undefined ? 'another order than the one that was sent' : `the order of ${other}`;
  throw new ErrandError('in_doubt', `the response describes ${why}: ${order.id}`, { outcome: 'unknown' });
}

/**
 * Handles `already_exists`, which names the order that an earlier attempt made. Fetches that order, and compares it
 * before recording it in the journal. Without the comparison, a user might get somebody else's order as the result.
 */
async function adoptExisting(
  context: OrderContext,
  client: Client,
  sendable: Sendable,
  errorResponse: ErrandError,
): Promise<Placed> {
  const { intent } = sendable;
  const id = existingId(errorResponse);
  if (id === undefined)
    throw await leftInDoubt(context, withoutId(context, errorResponse, intent), intent, 'again');
  try {
    const other = (await context.journal()).otherKeyOf(id, intent.key);
    if (other !== undefined) throw namesAnother(errorResponse, id, `the order of ${other}`);
    const grant = await saveGrant(context, id, errorResponse);
    const placed = await readExisting(context, client, { ...sendable, refusal: errorResponse }, id);
    await settleIntent(context, intent, id, { grant, madeAt: madeAt(placed.order) });
    return placed;
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (error.category !== 'conflict') throw await leftInDoubt(context, error, intent, 'again');
    throw await refuseIntent(context, intent, error);
  }
}

/**
 * Stores the grant that a service returns when it refuses a repeated payment. The grant contains the key that reads the
 * order bought before.
 */
async function saveGrant(
  context: OrderContext,
  orderId: string,
  errorResponse: ErrandError,
): Promise<Grant | undefined> {
  const grant = errorResponse instanceof ServiceError ? readGrant(errorResponse.headers) : undefined;
  if (grant?.apiKey === undefined) return undefined;
  await (await context.journal()).saveGrant(orderId, context.settings.baseUrl.value, grant);
  return grant;
}

type Held = Pick<Intent, 'key' | 'baseUrl'>;

/**
 * Call options for a request. The request must end before the lease on the record does, because another machine may
 * then acquire the record.
 * @throws ErrandError not_sent if the lease has expired or cannot be checked.
 */
export const heldCall = async (context: OrderContext, { key, baseUrl }: Held): Promise<CallOptions> => ({
  maxMs: await (await context.journal()).hold(key, baseUrl),
});

/** How often, in ms, the hold on a record is renewed while a person or a wallet takes time. */
const holdEveryMs = 30_000;

/**
 * Runs slow work that precedes a request. Meanwhile renews the hold on the record, so that no other machine acquires
 * it.
 */
export async function whileHeld<T>(
  context: OrderContext,
  { key, baseUrl }: Held,
  work: () => Promise<T>,
): Promise<T> {
  const journal = await context.journal();
  if (!journal.isShared) return work();
  const timer = setInterval(() => {
    // Ignore a failed renewal, because the hold is checked after the work.
    journal.hold(key, baseUrl, true).catch(() => {});
  }, holdEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** When an order was made, in ms since the epoch; undefined if the service does not say. */
const madeAt = ({ created_at: at }: OrderRecord): number | undefined => Date.parse(String(at)) || undefined;

type Settled = Pick<Intent, 'key' | 'baseUrl' | 'operation'>;

/**
 * Records the result that the service made from an intent, and the grant of an order that was paid for. If recording
 * fails, the result still exists, so reports its id in a note. The record then stays in doubt, or, if the journal is
 * shared, is updated later.
 * @param madeAt is by the service's clock, in ms since the epoch.
 * @throws MadeTwiceError if the journal has another result for the same intent.
 */
export async function settleIntent(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  madeId: string,
  { grant, madeAt }: { readonly grant?: Grant | undefined; readonly madeAt?: number | undefined } = {},
): Promise<void> {
  const { one, made } = labelsOf(operation);
  try {
    const recorded = await (await context.journal()).respond(key, baseUrl, madeId, grant, madeAt);
    if (recorded === 'follows')
      context.note(
        `the ${one} ${madeId} was ${made}; the database did not take the record of it, which follows with the next command here that reaches it`,
      );
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    context.note(
      `the ${one} ${madeId} was ${made}, with the key ${key}; the journal could not record that (${error.message})`,
    );
  }
}

/**
 * Records that an intent had no effect. If a local journal is not writable, still returns the service's error response,
 * and the record stays in doubt.
 * @returns the error to throw: the error response, or in_doubt if another machine may still send the record.
 */
export async function refuseIntent(
  context: OrderContext,
  intent: Settled,
  errorResponse: ErrandError,
): Promise<ErrandError> {
  const recorded = await recordFailure(context, intent, errorResponse);
  return recorded === 'booked' ? errorResponse : stillOpen(context, intent, errorResponse, recorded);
}

/**
 * Same as `refuseIntent`, for a record that no machine can send any longer. If recording fails, the next command that
 * reads the record closes it.
 */
export async function endUnsent(context: OrderContext, intent: Settled, reason: ErrandError): Promise<void> {
  await recordFailure(context, intent, reason);
}

async function recordFailure(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  { category, message, facts }: ErrandError,
): Promise<RecordResult> {
  let isShared = false;
  try {
    const journal = await context.journal();
    isShared = journal.isShared;
    return await journal.refuse(key, baseUrl, { code: facts.code ?? category, message });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { one, made } = labelsOf(operation);
    context.note(
      `no ${one} was ${made} with the key ${key}; the journal could not record that (${error.message})`,
    );
    // In a shared journal, another machine may still send the record, because the journal does not show that the
    // attempt failed.
    return isShared ? 'follows' : 'booked';
  }
}

/** The error for an attempt that had no effect, but whose record is still open. */
function stillOpen(
  context: OrderContext,
  { key, operation }: Settled,
  errorResponse: ErrandError,
  recorded: Exclude<RecordResult, 'booked'>,
): ErrandError {
  const { one } = labelsOf(operation);
  const why =
    recorded === 'taken'
      ? 'another machine had taken it over by then'
      : 'the database could not record that, so that another machine may still send it';
  return new ErrandError(
    'in_doubt',
    `in doubt: nothing came of the ${one} here (${errorResponse.message}), and ${why}`,
    {
      ...errorResponse.facts,
      outcome: 'unknown',
      retryable: true,
      idempotencyKey: key,
      cause: errorResponse,
      hint:
        recorded === 'taken'
          ? 'The journal says what became of it there.'
          : 'The next command here that reaches the database ends the record, unless another machine is at work on it by then.',
      next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
    },
  );
}
