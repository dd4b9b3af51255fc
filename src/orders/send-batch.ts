import type { Received } from '../api/received.ts';
import type { CallOptions, Client } from '../http/client.ts';
import { pages } from '../http/paging.ts';
import type { Intent } from '../journal/journal-record.ts';
import { MadeTwiceError } from '../journal/record-result.ts';
import { backoffMs } from '../platform/async.ts';
import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import { checkNotOrdered, orderedElsewhere } from './batch-given-up.ts';
import { isCertain, leftInDoubt } from './doubt.ts';
import { otherKeyOf } from './submit/existing.ts';
import { heldCall, refuseIntent, settleIntent } from './submit/send.ts';

/** Rows to place together. Each row has an idempotency key, so sending a row twice does not place its order twice. */
export interface BatchIntent {
  /** Journal key of the batch. It is derived from the rows, so that the same rows are the same intent. */
  readonly key: string;
  readonly filename: string;
  readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[];
  /** Whether the service notifies the account holder once every row has been placed or has failed. */
  readonly notifies?: boolean;
}

export interface PlacedBatch {
  readonly id: string;
  /** Whether an earlier command had created the batch. */
  readonly existed: boolean;
  /** The service's response; set if this attempt created the batch. */
  readonly response?: Received<'bulk.create'>;
}

const maxAttempts = 4;
const backoff = { firstMs: 300, maxMs: 5_000, jitter: 0 };
/** How much the clocks of this machine and of the service may differ, in ms. */
const clocksDifferMs = 3600 * 1000;

/**
 * Sends a journaled batch and records the outcome.
 * @param sentSince is the earliest time at which the batch may have been sent, in ISO 8601; undefined for a first send.
 */
export async function sendBatch(
  context: OrderContext,
  intent: Pick<Intent, 'key' | 'baseUrl' | 'operation'>,
  batch: BatchIntent,
  sentSince: string | undefined,
): Promise<PlacedBatch> {
  const client = await context.client();
  let since = sentSince;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = since === undefined ? undefined : await findBatch(context, intent, batch, since);
      if (found !== undefined) {
        await settleIntent(context, intent, found);
        return { id: found, existed: sentSince !== undefined };
      }
      if (attempt === 1 && sentSince !== undefined) await checkNotOrdered(context, intent, batch, sentSince);
      const response = await createBatch(client, batch, await heldCall(context, intent));
      if ((await otherKeyOf(context, intent, response.id)) !== undefined) throw otherBatch(response.id);
      await settleIntent(context, intent, response.id);
      return { id: response.id, existed: false, response };
    } catch (error) {
      if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
      if (error.facts.code === orderedElsewhere) throw error;
      if (since === undefined && isCertain(error)) throw await refuseIntent(context, intent, error);
      since ??= new Date(context.clock.now()).toISOString();
      if (context.signal.aborted || attempt === maxAttempts || isCertain(error))
        throw await leftInDoubt(context, error, intent, 'again');
      await context.clock.sleep(backoffMs(attempt, Math.random, backoff), context.signal).catch(async () => {
        throw await leftInDoubt(context, error, intent);
      });
    }
  }
}

/** @throws ErrandError: in_doubt if the response describes another batch; any error of the call. */
export async function createBatch(
  client: Client,
  { rows, ...batch }: BatchIntent,
  options?: CallOptions,
): Promise<Received<'bulk.create'>> {
  const body = { filename: labelOf(batch), rows: rows.map((row) => ({ ...row })), ...notice(batch) };
  const { body: response } = await client.call('bulk.create', { body }, options);
  const { filename = body.filename } = response;
  if (filename === body.filename && hasRows(response, rows)) return response;
  throw otherBatch(response.id);
}

const hasRows = (
  { row_count: count }: { readonly row_count?: unknown },
  rows: BatchIntent['rows'],
): boolean => count == null || Number(count) === rows.length;

const otherBatch = (id: string): ErrandError =>
  new ErrandError('in_doubt', `the response describes another batch than the one that was sent: ${id}`, {
    outcome: 'unknown',
  });

export const notice = ({ notifies = false }: Pick<BatchIntent, 'notifies'>): { notify_on_complete?: true } =>
  notifies ? { notify_on_complete: true } : {};

/**
 * The name of the batch at the service. It contains the beginning of the batch's key, so that batches of the same file
 * have different names.
 */
const labelOf = ({ filename, key }: Pick<BatchIntent, 'filename' | 'key'>): string =>
  `${filename} [${key.slice(0, 8)}]`;

/**
 * Finds a batch by its name. Searches the batches from the newest back to the time of the first attempt. Skips batches
 * that another intent has made.
 * @throws ErrandError in_doubt if a batch of that name has different rows.
 */
export async function findBatch(
  context: OrderContext,
  intent: Pick<Intent, 'key' | 'baseUrl'>,
  batch: BatchIntent,
  since: string,
): Promise<string | undefined> {
  const oldest = Date.parse(since) - clocksDifferMs;
  const label = labelOf(batch);
  for await (const { rows } of pages(await context.client(), 'bulk.list', {}, { all: true })) {
    for (const found of rows) {
      const id = String(found.id);
      if (found.filename !== label || (await otherKeyOf(context, intent, id)) !== undefined) continue;
      if (!hasRows(found, batch.rows)) throw otherBatch(id);
      return id;
    }
    if (rows.every(({ created_at: at }) => Date.parse(String(at)) < oldest)) return undefined;
  }
  return undefined;
}
