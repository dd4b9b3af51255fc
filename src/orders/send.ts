import type { ErrorCode } from '../api/error-codes.ts';
import type { CallOptions, Client } from '../http/client.ts';
import { ServiceError } from '../http/errors.ts';
import { type Grant, readGrant } from '../http/payment-credential.ts';
import { MadeTwiceError } from '../journal/booked.ts';
import type { Intent, KeyOrigin } from '../journal/journal-record.ts';
import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import { isAnotherOrder } from './compare.ts';
import { isCertain, leftInDoubt, type Sending } from './doubt.ts';
import { existingId, namesAnother, readExisting, withoutId } from './existing.ts';
import { heldCall } from './hold.ts';
import type { IdentifiedOrder } from './order-record.ts';
import type { KeyedBody, Placed } from './placed.ts';
import { refuseIntent, settleIntent } from './settle.ts';

/** How an intent becomes an order: by the key of an account, or paid for. `grant` is what a paid order comes with. */
export type Create = (
  client: Client,
  body: KeyedBody,
  options: CallOptions,
) => Promise<{ readonly order: IdentifiedOrder; readonly grant?: Grant }>;

/** An intent in the journal, and what is sent for it. */
export interface Sendable {
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
