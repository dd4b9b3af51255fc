import { randomUUID } from 'node:crypto';
import type { OrderContext } from '../run/order-context.ts';
import type { MadeBy } from './order-record.ts';
import { recordReturn } from './repeated-return.ts';
import { type ReturnBody, sendReturn } from './send-return.ts';
import type { Made, Placing } from './submit/intent.ts';
import { intentOf } from './submit/intent.ts';
import { previewKey } from './submit/preview.ts';
import { readyToSend } from './submit/submit.ts';

/**
 * Requests one return per intent. If the same request is repeated soon afterwards, or after an interrupted command, the
 * result is the existing return in its current state, unless `isNew` is set.
 * @throws ErrandError: conflict with the differences if another return is open; in_doubt if no response settles the
 * outcome.
 */
export async function requestReturn(
  context: OrderContext,
  body: ReturnBody,
  { isNew, isByHand = false }: Placing,
): Promise<Made<MadeBy['return.create']>> {
  await readyToSend(context);
  const client = await context.client();
  const intent = await intentOf(context, 'return.create', { key: randomUUID(), keyOrigin: 'made', body });
  if (context.previewsRequests) {
    await previewKey(context, intent, !isNew);
    return { order: (await client.call('return.create', { body })).body, existed: false };
  }
  const existing = await recordReturn(context, intent, { isNew, isByHand });
  return existing ?? sendReturn(context, client, intent, body);
}
