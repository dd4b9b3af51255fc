import type { AttemptClaim } from '../journal/attempts.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { wasSentWithOtherKey } from '../journal/take-over.ts';
import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import type { Consent } from '../spending/options.ts';
import { type BatchIntent, createBatch, notice, type PlacedBatch, sendBatch } from './send-batch.ts';
import { asBatch, type IntentOf, intentOf } from './submit/intent.ts';
import { recordIntent } from './submit/record.ts';
import { readyToSend } from './submit/submit.ts';

interface BatchPlacing extends Consent {
  /**
   * Repeats the decisions about the needs of the rows when the batch is recorded. Undefined if the attempts of the rows
   * are recorded already.
   */
  readonly claim?: AttemptClaim | undefined;
}

/**
 * Creates one batch per intent. The batch is journaled before it is sent. If the response is lost, errand finds the
 * batch again, even if the same rows now come from a file with another name.
 * @throws ErrandError: in_doubt if no response settles the outcome; the service's error response; conflict if another
 * process has meanwhile ordered the same.
 */
export async function placeBatch(
  context: OrderContext,
  given: BatchIntent,
  { claim, ...consent }: BatchPlacing = {},
): Promise<PlacedBatch> {
  if (context.previewsRequests)
    return { id: (await createBatch(await context.client(), given)).id, existed: false };
  await readyToSend(context);
  const journal = await context.journal();
  const known = journal.find(given.key, context.settings.baseUrl.value);
  const batch = { ...given, filename: await nameAtService(context, known, given) };
  const intent = await batchIntent(context, batch);
  if (known?.order_id && known.state !== 'damaged' && !wasSentWithOtherKey(known, intent)) {
    journal.recall(known);
    return { id: known.order_id, existed: true };
  }
  const recorded = await recordIntent(context, intent, { ...consent, ...(claim && { claim }) });
  if (recorded.isOvertaken) throw overtaken();
  if (recorded.placed) return { id: recorded.placed.order.id, existed: true };
  // If another machine has recorded the batch after the lookup above, that lookup gives no time. Use the current time.
  const since = known?.created_at ?? new Date(context.clock.now()).toISOString();
  return sendBatch(context, intent, batch, recorded.mayBeSent ? since : undefined);
}

/** The error if another process has ordered the same since the rows were decided on. */
const overtaken = (): ErrandError =>
  new ErrandError(
    'conflict',
    'another command is ordering what some of these rows order; these rows were not sent',
    {
      code: 'overtaken',
      outcome: 'not_sent',
      retryable: true,
      hint: 'Wait for it to end. The same command again then says what is left.',
    },
  );

/** A batch's journal intent. */
export const batchIntent = (context: OrderContext, batch: BatchIntent): Promise<IntentOf<'bulk.create'>> =>
  intentOf(context, 'bulk.create', {
    key: batch.key,
    keyOrigin: 'made',
    body: { filename: batch.filename, rows: batch.rows, ...notice(batch) },
  });

/**
 * Name of the batch at the service. If the batch may have been sent before, errand looks it up and resends it under its
 * original name.
 */
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
