import { randomUUID } from 'node:crypto';
import { isObject, objectsIn } from '../../api/json.ts';
import type { CallOptions, Client } from '../../http/client.ts';
import type { Reference } from '../../journal/attempts.ts';
import { MadeTwiceError } from '../../journal/record-result.ts';
import { ErrandError, type ErrorCategory } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { noteInDoubt } from '../audited.ts';
import { isCertain } from '../doubt.ts';
import { placeOnce } from '../needs/place-once.ts';
import type { AttemptToSend } from '../needs/purchase.ts';
import { referenceIn } from '../needs/reference.ts';
import type { MadeBy } from '../order-record.ts';
import { otherKeyOf, readOrder } from './existing.ts';
import { type Body, type IntentOf, intentOf, type Made, type Placing } from './intent.ts';
import { previewKey } from './preview.ts';
import { recordIntent } from './record.ts';
import { retryInDoubt } from './resume.ts';
import { endUnsent, heldCall, settleIntent } from './send.ts';
import { readyToSend } from './submit.ts';

type Retried = Made<MadeBy['legacy.retry']>;

/**
 * Retries a failed order as a new request (v1), unless the order's need has been met since. v1 has no idempotency key.
 * Therefore the request is sent once, and is not resent while it is in doubt.
 * @returns the order and the new request.
 * @throws ErrandError in_doubt if no response settles the outcome; conflict if the need is met, naming the order.
 */
export async function retryOrder(context: OrderContext, orderId: string, placing: Placing): Promise<Retried> {
  const { isNew, isByHand = false } = placing;
  await readyToSend(context);
  const client = await context.client();
  const unkeyed = await retryIntent(context, '', orderId);
  if (context.previewsRequests) {
    await previewKey(context, unkeyed, !isNew);
    return { order: { order_id: orderId, ...(await call(client, orderId)) }, existed: false };
  }
  const { order, reference } = await retried(client, orderId);
  // The order that is retried does not block its own retry. If that order is live, the service refuses the retry.
  const own = (await context.journal()).madeBy(orderId, context.settings.baseUrl.value)?.key;
  const agreed = own === undefined ? placing.agreed : new Set([own, ...(placing.agreed ?? [])]);
  return placeOnce(context, {
    ...{ order, intent: unkeyed, placing: { ...placing, reference, agreed } },
    // Name only this order, because the command may retry several.
    ...(!isByHand && { command: `${shellLine`errand legacy retry ${orderId}`}${whereFlags(context)}` }),
    adopt: ({ order: { id } }) => ({ order_id: orderId, request_id: id }),
    send: (attempt) => sendRetry(context, client, orderId, attempt),
  });
}

const retryIntent = (
  context: OrderContext,
  key: string,
  orderId: string,
): Promise<IntentOf<'legacy.retry'>> =>
  intentOf(context, 'legacy.retry', { key, keyOrigin: 'made', body: { order_id: orderId } });

const call = async (client: Client, orderId: string, options?: CallOptions) =>
  (await client.call('legacy.retry', { path: { request_id: orderId } }, options)).body;

/**
 * What the retry of an order buys, and the reference of the order. If the current surface does not show the order, uses
 * a stand-in made from the order's id, so that at least the same order is not retried twice.
 * @throws ErrandError if the service cannot be asked.
 */
async function retried(
  client: Client,
  orderId: string,
): Promise<{ readonly order: Body; readonly reference: Reference | undefined }> {
  const found = await unlessHidden(readOrder(client, orderId));
  const { checkShape } = await import('../../api/schemas/check.ts');
  const products = objectsIn({ ...found }, 'items').map(({ url, quantity, variant }) => ({
    ...{ url, quantity },
    ...(Array.isArray(variant) && { variant }),
  }));
  const address = isObject(found?.shipping_address)
    ? Object.fromEntries(Object.entries(found.shipping_address).filter(([, part]) => part !== null))
    : undefined;
  const fields = { products, max_price: found?.max_price, shipping_address: address };
  const { value } = checkShape('OrderCreate', fields, 'response');
  return { order: value ?? standIn(orderId), reference: referenceIn(found?.metadata) };
}

/**
 * Errors that only mean that the current surface does not show the order. The legacy surface may be another service, or
 * its token may be the only credential.
 */
const hidden: ReadonlySet<ErrorCategory> = new Set(['authentication', 'not_found', 'usage']);

async function unlessHidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ErrandError && hidden.has(error.category)) return undefined;
    throw error;
  }
}

const standIn = (orderId: string): Body => ({
  products: [{ url: `retry:${orderId}`, quantity: 1 }],
  max_price: 0,
  shipping_address: {
    ...{ first_name: '', last_name: '', address_line1: '', city: '', state: '' },
    ...{ postal_code: '', country: '', phone_number: '' },
  },
});

async function sendRetry(
  context: OrderContext,
  client: Client,
  orderId: string,
  { claim, noteEarlier }: AttemptToSend,
): Promise<Retried | undefined> {
  const intent = await retryIntent(context, randomUUID(), orderId);
  const recorded = await recordIntent(context, intent, { claim: claim(intent.key) });
  if (recorded.placed) return recorded.placed;
  if (recorded.isOvertaken) return undefined;
  try {
    const made = await call(client, orderId, await heldCall(context, intent));
    if ((await otherKeyOf(context, intent, made.request_id)) !== undefined)
      context.note(`the service made no new request: ${made.request_id} is the one of an earlier retry`);
    else noteEarlier();
    await settleIntent(context, intent, made.request_id);
    return { order: { order_id: orderId, ...made }, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (!isCertain(error)) {
      await noteInDoubt(context, intent, error);
      throw retryInDoubt(context, { key: intent.key, body: { order_id: orderId } }, error);
    }
    // Closing the record is safe, because no other machine resends a retry.
    await endUnsent(context, intent, error);
    throw error;
  }
}
