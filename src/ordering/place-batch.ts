import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import { pages } from '../http/paging.ts';
import { inDoubt, isCertain, refuseIntent, settleIntent } from './doubt.ts';

/** Rows to be placed together. Each has an idempotency key, so that sending them twice places nothing twice. */
export interface BatchIntent {
  /** Follows from the rows: the same rows are the same intent. */
  readonly key: string;
  readonly filename: string;
  readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[];
  /** The service tells the account holder when every row is placed or has failed. */
  readonly notifies?: boolean;
}

export interface PlacedBatch {
  readonly id: string;
  /** Set when an earlier try had made it. */
  readonly existed: boolean;
}

const mostAttempts = 4;
const firstPauseMs = 300;
/** How far back a batch that may have been made is looked for. */
const mostLooked = 1000;

/**
 * Creates one batch for one intent: journaled before it is sent, found again where an answer got lost.
 * @throws ErrandError: in_doubt when no answer came; what the service refused it for.
 */
export async function placeBatch(context: Context, batch: BatchIntent): Promise<PlacedBatch> {
  if (context.previewsRequests) return { id: await create(await context.client(), batch), existed: false };
  const { profile, baseUrl } = context.settings;
  const journal = await context.journal();
  const keyMasked = context.keyMasked();
  const settled = journal.settledOrder(batch.key, baseUrl.value, keyMasked);
  if (settled !== undefined) return { id: settled, existed: true };
  const { mayBeSent } = await journal.record({
    key: batch.key,
    operation: 'bulk.create',
    profile: profile.value,
    baseUrl: baseUrl.value,
    keyMasked,
    body: { filename: batch.filename, rows: batch.rows, ...notice(batch) },
  });
  return sendBatch(context, batch, mayBeSent);
}

/** Sends a journaled batch, and writes down how it ended. */
export async function sendBatch(
  context: Context,
  batch: BatchIntent,
  mayBeSent: boolean,
): Promise<PlacedBatch> {
  const client = await context.client();
  let isLookedFor = mayBeSent;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = isLookedFor ? await findBatch(client, labelOf(batch)) : undefined;
      const id = found ?? (await create(client, batch));
      await settleIntent(context, batch.key, id);
      return { id, existed: found !== undefined };
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      if (!isLookedFor && isCertain(error)) throw await refused(context, batch, error);
      isLookedFor = true;
      if (context.signal.aborted || attempt === mostAttempts || isCertain(error))
        throw inDoubt(context, error, batch.key, 'batch', 'again');
      await context.clock.sleep(firstPauseMs * 2 ** (attempt - 1), context.signal).catch(() => {
        throw inDoubt(context, error, batch.key, 'batch');
      });
    }
  }
}

async function create(client: Client, { rows, ...batch }: BatchIntent): Promise<string> {
  const body = { filename: labelOf(batch), rows: rows.map((row) => ({ ...row })), ...notice(batch) };
  return (await client.call('bulk.create', { body })).body.id;
}

const notice = ({ notifies = false }: Pick<BatchIntent, 'notifies'>): { notify_on_complete?: true } =>
  notifies ? { notify_on_complete: true } : {};

/** A batch's name at the service tells it from every other. */
const labelOf = ({ filename, key }: Pick<BatchIntent, 'filename' | 'key'>): string =>
  `${filename} [${key.slice(0, 8)}]`;

async function findBatch(client: Client, label: string): Promise<string | undefined> {
  let looked = 0;
  for await (const { rows } of pages(client, 'bulk.list', {}, { all: true })) {
    const found = rows.find(({ filename }) => filename === label);
    if (found) return String(found.id);
    looked += rows.length;
    if (looked >= mostLooked) return undefined;
  }
  return undefined;
}

async function refused(context: Context, { key }: BatchIntent, error: ErrandError): Promise<ErrandError> {
  const { code = error.category } = error.facts;
  await refuseIntent(context, key, { code, message: error.message });
  return error;
}
