import { randomUUID } from 'node:crypto';
import type { CallOptions } from '../../http/client.ts';
import { MadeTwiceError } from '../../journal/record-result.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { noteInDoubt } from '../audited.ts';
import { isCertain } from '../doubt.ts';
import type { MadeBy } from '../order-record.ts';
import { otherKeyOf } from './existing.ts';
import { intentOf, type Made, type Placing } from './intent.ts';
import { previewKey } from './preview.ts';
import { recordOnce } from './repeats.ts';
import { retryInDoubt } from './resume.ts';
import { endUnsent, heldCall, settleIntent } from './send.ts';
import { readyToSend } from './submit.ts';

/**
 * Retries a failed order as a new request (v1). v1 has no idempotency key, so the request is sent once, and never again
 * while in doubt. Running the same retry again counts as a repeated command, unless `isNew` is set.
 * @returns the order and the new request. @throws ErrandError in_doubt if no response settles the outcome; conflict for
 * a repeated command, naming the new request.
 */
export async function retryOrder(
  context: OrderContext,
  orderId: string,
  { isNew, isByHand = false }: Placing,
): Promise<Made<MadeBy['legacy.retry']>> {
  await readyToSend(context);
  const client = await context.client();
  const call = async (options?: CallOptions) =>
    (await client.call('legacy.retry', { path: { request_id: orderId } }, options)).body;
  const key = randomUUID();
  const body = { order_id: orderId };
  const intent = await intentOf(context, 'legacy.retry', { key, keyOrigin: 'made', body });
  const rule = isNew ? 'none' : 'repeats';
  if (context.previewsRequests) {
    await previewKey(context, intent, rule);
    return { order: { order_id: orderId, ...(await call()) }, existed: false };
  }
  const recorded = await recordOnce(context, intent, rule, { isByHand });
  if (recorded.placed) return recorded.placed;
  try {
    const made = await call(await heldCall(context, intent));
    if ((await otherKeyOf(context, intent, made.request_id)) !== undefined)
      context.note(`the service made no new request: ${made.request_id} is the one of an earlier retry`);
    await settleIntent(context, intent, made.request_id);
    return { order: { order_id: orderId, ...made }, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (!isCertain(error)) {
      await noteInDoubt(context, intent, error);
      throw retryInDoubt(context, { key, body }, error);
    }
    // Closing the record is safe, because no other machine resends a retry.
    await endUnsent(context, intent, error);
    throw error;
  }
}
