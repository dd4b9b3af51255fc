import type { Context } from '../context.ts';
import { wasSentWithAnother } from '../state/take-over.ts';
import { intentOf } from './intent.ts';
import { recordOnce } from './repeats.ts';
import { type BatchIntent, createBatch, notice, type PlacedBatch, sendBatch } from './send-batch.ts';

/**
 * Creates one batch for one intent: journaled before it is sent, found again where a response got lost.
 * @throws ErrandError: in_doubt when no response settles it; what the service refused it for.
 */
export async function placeBatch(context: Context, batch: BatchIntent): Promise<PlacedBatch> {
  if (context.previewsRequests)
    return { id: await createBatch(await context.client(), batch), existed: false };
  const intent = await intentOf(context, 'bulk.create', {
    key: batch.key,
    keyOrigin: 'made',
    body: { filename: batch.filename, rows: batch.rows, ...notice(batch) },
  });
  const journal = await context.journal();
  const known = journal.find(intent.key, intent.baseUrl);
  if (known?.order_id && known.state !== 'damaged' && !wasSentWithAnother(known, intent)) {
    journal.recall(known);
    return { id: known.order_id, existed: true };
  }
  const recorded = await recordOnce(context, intent, 'none');
  if (recorded.placed) return { id: recorded.placed.order.id, existed: true };
  return sendBatch(context, intent, batch, recorded.mayBeSent ? known?.created_at : undefined);
}
