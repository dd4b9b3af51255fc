import type { ErrorCode } from '../../api/error-codes.ts';
import type { CallOptions, Client } from '../../http/client.ts';
import { ServiceError } from '../../http/errors.ts';
import { type Grant, readGrant } from '../../http/payment-credential.ts';
import { type Booked, MadeTwiceError } from '../../journal/booked.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent, KeyOrigin } from '../../journal/journal-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { isAnotherOrder } from '../compare.ts';
import { isCertain, leftInDoubt, type Sending } from '../doubt.ts';
import type { IdentifiedOrder } from '../order-record.ts';
import { existingId, namesAnother, readExisting, withoutId } from './existing.ts';
import { type KeyedBody, type Placed, thingOf } from './intent.ts';

/** How an intent becomes an order: by the key of an account, or paid for. `grant` is what a paid order comes with. */
export type Create = (
  client: Client,
  body: KeyedBody,
  options: CallOptions,
) => Promise<{ readonly order: IdentifiedOrder; readonly grant?: Grant }>;

/** An intent in the journal, and what is sent for it. */
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

/** Sends a journaled intent and writes down how it ended. */
export async function send(context: OrderContext, client: Client, sendable: Sendable): Promise<Placed> {
  const { intent, body, sending, create = byAccount } = sendable;
  try {
    const { order, grant } = await create(client, body, await heldCall(context, intent));
    await checkMade(context, sendable, order);
    await settleIntent(context, intent, order.id, grant);
    return { order, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (error.facts.code === ('already_exists' satisfies ErrorCode))
      return adoptExisting(context, client, sendable, error);
    if (sending === 'again' || !isCertain(error)) throw await leftInDoubt(context, error, intent, sending);
    const { category, message, facts } = await refuseIntent(context, intent, error);
    throw new ErrandError(category, message, { ...facts, idempotencyKey: intent.key, cause: error });
  }
}

/** A cache may respond with the order of another request. @throws ErrandError where the response proves nothing. */
async function checkMade(
  context: OrderContext,
  { intent, body }: Sendable,
  order: IdentifiedOrder,
): Promise<void> {
  // Sandboxes of one seed, at two addresses, make orders with the same ids.
  const at = context.isRehearsal() ? intent.baseUrl : undefined;
  const other = (await context.journal()).otherKeyOf(order.id, intent.key, at);
  if (other === undefined && !isAnotherOrder(body, order)) return;
  const why = other === undefined ? 'another order than the one that was sent' : `the order of ${other}`;
  throw new ErrandError('in_doubt', `the response describes ${why}: ${order.id}`, { outcome: 'unknown' });
}

/**
 * `already_exists`: the order that an earlier attempt made. It is read and compared before the journal has it: a service
 * may name another one, and whoever is told that this is theirs has none.
 */
async function adoptExisting(
  context: OrderContext,
  client: Client,
  sendable: Sendable,
  refusal: ErrandError,
): Promise<Placed> {
  const { intent } = sendable;
  const id = existingId(refusal);
  if (id === undefined)
    throw await leftInDoubt(context, withoutId(context, refusal, intent), intent, 'again');
  try {
    const other = (await context.journal()).otherKeyOf(id, intent.key);
    if (other !== undefined) throw namesAnother(refusal, id, `the order of ${other}`);
    const grant = await keepGrant(context, id, refusal);
    const placed = await readExisting(context, client, { ...sendable, refusal }, id);
    await settleIntent(context, intent, id, grant);
    return placed;
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (error.category !== 'conflict') throw await leftInDoubt(context, error, intent, 'again');
    throw await refuseIntent(context, intent, error);
  }
}

/** The response to a payment that was made before carries the key that reads what it bought. */
async function keepGrant(
  context: OrderContext,
  orderId: string,
  refusal: ErrandError,
): Promise<Grant | undefined> {
  const grant = refusal instanceof ServiceError ? readGrant(refusal.headers) : undefined;
  if (grant?.apiKey === undefined) return undefined;
  await (await context.journal()).keepGrant(orderId, context.settings.baseUrl.value, grant);
  return grant;
}

type Held = Pick<Intent, 'key' | 'baseUrl'>;

/**
 * How a request for a record is sent: no longer than the record is this process's own, since after that another machine
 * may take it over. @throws ErrandError not_sent where that has happened, or cannot be found out.
 */
export const heldCall = async (context: OrderContext, { key, baseUrl }: Held): Promise<CallOptions> => ({
  mostMs: await (await context.journal()).hold(key, baseUrl),
});

/** How often a record is held anew while a person, or a wallet, takes their time, ms. */
const holdEveryMs = 30_000;

/** Does what may take longer than a request before one is sent for a record; no other machine takes that over meanwhile. */
export async function whileHeld<T>(
  context: OrderContext,
  { key, baseUrl }: Held,
  work: () => Promise<T>,
): Promise<T> {
  const journal = await context.journal();
  if (!journal.isShared) return work();
  const timer = setInterval(() => {
    // Whether it was kept shows once the work is done.
    journal.hold(key, baseUrl, true).catch(() => {});
  }, holdEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

type Settled = Pick<Intent, 'key' | 'baseUrl' | 'operation'>;

/**
 * Writes down what the service made of an intent, with what a paid order came with. Where that fails what was made exists
 * all the same: its id is reported, and the record stays in doubt, or follows where the journal is shared.
 * @throws MadeTwiceError where the journal knows another order of the same intent.
 */
export async function settleIntent(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  madeId: string,
  grant?: Grant,
): Promise<void> {
  const { one, made } = thingOf(operation);
  try {
    const booked = await (await context.journal()).respond(key, baseUrl, madeId, grant);
    if (booked === 'follows')
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
 * Writes down that nothing came of an intent. Where a journal of this machine does not take that, the refusal is what
 * matters, and the record stays in doubt.
 * @returns what is to be thrown: the refusal, or in_doubt where another machine may still send what is recorded.
 */
export async function refuseIntent(
  context: OrderContext,
  intent: Settled,
  refusal: ErrandError,
): Promise<ErrandError> {
  const booked = await bookRefusal(context, intent, refusal);
  return booked === 'booked' ? refusal : stillOpen(context, intent, refusal, booked);
}

/** The same where no machine can send what is recorded any more: it ends with the next command that looks at it. */
export async function endUnsent(context: OrderContext, intent: Settled, reason: ErrandError): Promise<void> {
  await bookRefusal(context, intent, reason);
}

async function bookRefusal(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  { category, message, facts }: ErrandError,
): Promise<Booked> {
  let isShared = false;
  try {
    const journal = await context.journal();
    isShared = journal.isShared;
    return await journal.refuse(key, baseUrl, { code: facts.code ?? category, message });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { one, made } = thingOf(operation);
    context.note(
      `no ${one} was ${made} with the key ${key}; the journal could not record that (${error.message})`,
    );
    // Written down nowhere, it ends no record that another machine may send.
    return isShared ? 'follows' : 'booked';
  }
}

/** Nothing came of this attempt, and the record is open all the same. */
function stillOpen(
  context: OrderContext,
  { key, operation }: Settled,
  refusal: ErrandError,
  booked: Exclude<Booked, 'booked'>,
): ErrandError {
  const { one } = thingOf(operation);
  const why =
    booked === 'taken'
      ? 'another machine had taken it over by then'
      : 'the database could not record that, so that another machine may still send it';
  return new ErrandError(
    'in_doubt',
    `in doubt: nothing came of the ${one} here (${refusal.message}), and ${why}`,
    {
      ...refusal.facts,
      outcome: 'unknown',
      retryable: true,
      idempotencyKey: key,
      cause: refusal,
      hint:
        booked === 'taken'
          ? 'The journal says what became of it there.'
          : 'The next command here that reaches the database ends the record, unless another machine is at work on it by then.',
      next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
    },
  );
}
