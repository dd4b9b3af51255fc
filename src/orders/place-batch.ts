import type { JournalRecord } from '../journal/journal-record.ts';
import { wasSentWithAnother } from '../journal/take-over.ts';
import type { OrderContext } from '../run/order-context.ts';
import { type BatchIntent, createBatch, notice, type PlacedBatch, sendBatch } from './send-batch.ts';
import type { Placing } from './submit/intent.ts';
import { asBatch, type IntentOf, intentOf } from './submit/intent.ts';
import { repeated } from './submit/repeated.ts';
import { isRepeated, recordOnce } from './submit/repeats.ts';
import { readyToSend } from './submit/submit.ts';

/**
 * Creates one batch for one intent: journaled before it is sent, found again where a response got lost, also when the
 * same rows come from a file of another name.
 * @throws ErrandError: in_doubt when no response settles it; what the service refused it for; by hand, conflict for one that
 * was created a short while ago.
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
  if (known?.order_id && known.state !== 'damaged' && !wasSentWithAnother(known, intent)) {
    if (isByHand && isRepeated(context, known)) throw repeated(context, known, undefined, isByHand);
    journal.recall(known);
    return { id: known.order_id, existed: true };
  }
  const recorded = await recordOnce(context, intent, 'none', { isByHand, ...consent });
  if (recorded.placed) return { id: recorded.placed.order.id, existed: true };
  // Another machine may have recorded it since it was looked up here.
  const since = known?.created_at ?? new Date(context.clock.now()).toISOString();
  return sendBatch(context, intent, batch, recorded.mayBeSent ? since : undefined);
}

/** A batch as the journal keeps it. */
export const batchIntent = (context: OrderContext, batch: BatchIntent): Promise<IntentOf<'bulk.create'>> =>
  intentOf(context, 'bulk.create', {
    key: batch.key,
    keyOrigin: 'made',
    body: { filename: batch.filename, rows: batch.rows, ...notice(batch) },
  });

/** What may have been sent before is looked for, and sent again, under the name that it had then. */
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
