import type { JournalRecord } from '../journal/journal-record.ts';
import { wasSentWithOtherKey } from '../journal/take-over.ts';
import type { OrderContext } from '../run/order-context.ts';
import { type BatchIntent, createBatch, notice, type PlacedBatch, sendBatch } from './send-batch.ts';
import type { Placing } from './submit/intent.ts';
import { asBatch, type IntentOf, intentOf } from './submit/intent.ts';
import { repeated } from './submit/repeated.ts';
import { isRepeated, recordOnce } from './submit/repeats.ts';
import { readyToSend } from './submit/submit.ts';

/**
 * Creates one batch per intent. The batch is journaled before it is sent, and found again if the response is lost, even
 * if the same rows come from a file with another name.
 * @throws ErrandError: in_doubt if no response settles the outcome; the service's error response; conflict if a request
 * written by hand repeats a batch that was just created.
 */
export async function placeBatch(
  context: OrderContext,
  given: BatchIntent,
  { isByHand = false, ...consent }: Partial<Placing> = {},
): Promise<PlacedBatch> {
  if (context.previewsRequests)
    return { id: (await createBatch(await context.client(), given)).id, existed: false };
  await readyToSend(context);
  const journal = await context.journal();
  const known = journal.find(given.key, context.settings.baseUrl.value);
  const batch = { ...given, filename: await nameAtService(context, known, given) };
  const intent = await batchIntent(context, batch);
  if (known?.order_id && known.state !== 'damaged' && !wasSentWithOtherKey(known, intent)) {
    if (isByHand && isRepeated(context, known)) throw repeated(context, known, undefined, isByHand);
    journal.recall(known);
    return { id: known.order_id, existed: true };
  }
  const recorded = await recordOnce(context, intent, 'none', { isByHand, ...consent });
  if (recorded.placed) return { id: recorded.placed.order.id, existed: true };
  // If another machine recorded the batch after the lookup above, use the current time.
  const since = known?.created_at ?? new Date(context.clock.now()).toISOString();
  return sendBatch(context, intent, batch, recorded.mayBeSent ? since : undefined);
}

/** A batch's journal intent. */
export const batchIntent = (context: OrderContext, batch: BatchIntent): Promise<IntentOf<'bulk.create'>> =>
  intentOf(context, 'bulk.create', {
    key: batch.key,
    keyOrigin: 'made',
    body: { filename: batch.filename, rows: batch.rows, ...notice(batch) },
  });

/** A batch that may have been sent is looked up and resent under its original name. */
async function nameAtService(
  context: OrderContext,
  known: JournalRecord | undefined,
  { filename }: BatchIntent,
): Promise<string> {
  if (known?.operation !== 'bulk.create') return filename;
  if (known.state !== 'intended' && known.state !== 'forgotten') return filename;
  const before = (await asBatch(known)).filename ?? filename;
  if (known.state === 'intended' && before !== filename)
    context.note(
      `these rows were sent before, as ${before}, and are in doubt since ${known.created_at}; settling that batch`,
    );
  return before;
}
