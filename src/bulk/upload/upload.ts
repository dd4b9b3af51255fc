import { listIn } from '../../api/json.ts';
import type { AttemptClaim } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { mayHaveMade } from '../../journal/take-over.ts';
import type { SavedUpload } from '../../journal/uploads.ts';
import { batchIntent, placeBatch } from '../../orders/place-batch.ts';
import type { BatchIntent } from '../../orders/send-batch.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { Consent } from '../../spending/options.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { hasPolicy, reserveAhead } from '../../spending/policy-gate.ts';
import { rowsText } from '../check/row-sample.ts';
import type { DecidedRows } from '../needs/decide-rows.ts';
import type { UploadRow } from '../rows.ts';
import type { Batch } from './batches.ts';
import { beginUpload, type NamedUpload } from './begin.ts';
import { inFlight } from './concurrency-limiter.ts';
import { knownUpload, resumeStep } from './named.ts';

/** A batch that the service has. */
export interface Uploaded {
  readonly id: string;
  readonly rows: number;
  /** Whether an earlier upload had already created the batch. */
  readonly existed: boolean;
}

/** Message about batches that an earlier upload had already created. */
export function existedBefore({ name, batches }: Sent): string[] {
  const again = batches.filter(({ existed }) => existed).length;
  if (again === 0) return [];
  if (again === batches.length)
    return [
      name === undefined
        ? 'these rows were ordered before; nothing was ordered again'
        : 'this upload was made before; nothing was ordered again',
    ];
  const already = again === 1 ? 'one batch was' : `${again} batches were`;
  return [`${already} there already; nothing was placed twice`];
}

/** The batches that were sent, and the name of their upload. The name is undefined if nothing was sent. */
export interface Sent {
  readonly name: string | undefined;
  readonly batches: readonly Uploaded[];
}

export interface Upload extends Consent {
  /** The file's name, or `stdin.csv`. */
  readonly name: string;
  readonly namedUpload: NamedUpload;
  readonly decided: DecidedRows;
  readonly batchSize: number;
  readonly notifies: boolean;
}

type SentOf = BatchToSend & { readonly serial: number | undefined };

/** Maximum number of batches to send concurrently. */
const maxInFlight = 4;

/** The batches to place, and what the policy checks before the first batch is sent. */
interface Sending extends Consent {
  /** File name for messages and for the service. */
  readonly name: string;
  /** Total rows of all batches. */
  readonly rows: number;
  readonly proposed: readonly ProposedOrder[];
  /**
   * The upload that the batches belong to. It is a new upload that begins with these batches, or an existing upload.
   */
  readonly of: NamedUpload | Pick<SavedUpload, 'serial' | 'name'> | undefined;
  readonly batches: AsyncIterable<BatchToSend>;
}

/** A batch, and the claim that records its attempts. The claim is undefined if the attempts are recorded already. */
export type BatchToSend = Batch &
  Pick<BatchIntent, 'notifies'> & { readonly claim?: AttemptClaim | undefined };

/**
 * Uploads the rows of a checked file that are to be ordered. Sends them in batches, and journals each batch before
 * sending it. @throws ErrandError naming what stopped the upload. Batches that were already uploaded stay valid, and
 * the same command continues after them.
 */
export async function uploadFile(context: Context, upload: Upload): Promise<Sent> {
  const { name, namedUpload, decided, batchSize, notifies, ...consent } = upload;
  const { counts } = decided;
  const earlier = await earlierBatches(context, upload);
  if (counts.new + counts.inDoubt === 0) return earlier;
  const proposed = context.previewsRequests ? [] : await proposedByUpload(context, upload);
  async function* batches(): AsyncGenerator<BatchToSend> {
    for (const batch of decided.settling()) yield batch;
    for await (const batch of decided.batches(batchSize))
      yield { ...batch, notifies, claim: decided.claimOf(batch) };
  }
  const sent = await sendBatches(context, {
    name,
    rows: counts.new + counts.inDoubt,
    proposed,
    of: namedUpload,
    batches: batches(),
    ...consent,
  });
  return { name: sent.name, batches: [...earlier.batches, ...sent.batches] };
}

/** Places batches concurrently, once the policy has allowed all of them. @throws the same errors as `uploadFile`. */
export async function sendBatches(
  context: Context,
  { name, rows, proposed, of, batches, ...consent }: Sending,
): Promise<Sent> {
  await readyToSend(context);
  const giveBackUnsent = context.previewsRequests
    ? async () => {}
    : await reserveUpload(context, proposed, consent);
  const progress = await context.progress({
    label: 'uploading',
    total: rows,
    unit: 'rows',
    now: context.clock.monotonic,
  });
  const uploaded: Uploaded[] = [];
  let sent = 0;
  let upload: Pick<SavedUpload, 'serial' | 'name'> | undefined;
  try {
    upload = of === undefined || context.previewsRequests ? undefined : await ensureBegun(context, of);
    const serial = upload?.serial;
    const placed = inFlight(batches, (batch) => uploadBatch(context, { filename: name, serial, ...batch }), {
      limit: maxInFlight,
      now: context.clock.monotonic,
    });
    for await (const batch of placed) {
      uploaded.push(batch);
      sent += batch.rows;
      progress.update(sent);
    }
  } catch (error) {
    if (uploaded.length > 0)
      context.note(
        `${rowsText(sent)} of ${rows} were uploaded before this; the same command goes on from there`,
      );
    throw cutShort(context, error, upload);
  } finally {
    await giveBackUnsent();
    progress.end();
  }
  return { name: upload?.name, batches: uploaded };
}

const ensureBegun = async (
  context: Context,
  of: NamedUpload | Pick<SavedUpload, 'serial' | 'name'>,
): Promise<Pick<SavedUpload, 'serial' | 'name'>> => ('serial' in of ? of : beginUpload(context, of));

/**
 * Reserves the spending for an upload. If the reservation is refused, nothing is sent now. Orders from an earlier
 * upload of the file may still be valid or in doubt.
 */
export async function reserveUpload(
  context: Context,
  proposed: readonly ProposedOrder[],
  consent: Consent,
): Promise<() => Promise<void>> {
  try {
    return await reserveAhead(context, proposed, consent);
  } catch (error) {
    if (!(error instanceof ErrandError) || !proposed.some(({ isDone }) => isDone)) throw error;
    throw new ErrandError(error.category, error.message, {
      ...error.facts,
      outcome: 'unknown',
      cause: error,
    });
  }
}

/**
 * Error for a partial upload. The outcome is `unknown`, because only some of the batches were placed. @param upload is
 * the upload that the suggested command resumes; undefined if no upload had begun.
 */
export function cutShort(context: Context, error: unknown, upload?: Pick<SavedUpload, 'name'>): unknown {
  const { signal, unreported } = context;
  const reason: unknown = error instanceof ErrandError ? error : signal.reason;
  if (!(reason instanceof ErrandError) || !unreported().some(({ madeId }) => madeId !== undefined))
    return error;
  return new ErrandError(reason.category, reason.message, {
    ...reason.facts,
    outcome: 'unknown',
    retryable: reason.facts.outcome !== 'rejected',
    hint: reason.facts.hint ?? 'The same command goes on from there; nothing is placed twice.',
    next: [...(reason.facts.next ?? []), ...(upload ? [resumeStep(context, upload)] : [])],
    cause: error,
  });
}

/**
 * The batches from an earlier run of the same upload. If this machine knows no such upload and nothing is sent now,
 * returns the batches that ordered rows of this file.
 */
async function earlierBatches(
  context: Context,
  { namedUpload, decided }: Pick<Upload, 'namedUpload' | 'decided'>,
): Promise<Sent> {
  const { value: baseUrl } = context.settings.baseUrl;
  const known = await knownUpload(context, namedUpload.name);
  const { counts } = decided;
  const others = counts.new + counts.inDoubt === 0 ? [...decided.placedIn] : [];
  const keys = known ? known.batches.map(({ key }) => key) : others;
  const batches: Uploaded[] = [];
  for (const key of keys) {
    const journal = await context.journal();
    const record = journal.find(key, baseUrl);
    const id = record?.order_id ?? (await context.uploads()).idOf(key);
    if (id == null) continue;
    if (record) journal.recall(record);
    const rows = known?.batches.find((one) => one.key === key)?.layout.numbers.length;
    batches.push({ id, rows: rows || listIn(record?.body ?? {}, 'rows').length, existed: true });
  }
  return { name: known?.name, batches };
}

/** The batches of an interrupted upload, as they were sent. */
async function batchesBefore(
  context: Context,
  { namedUpload, decided }: Pick<Upload, 'namedUpload' | 'decided'>,
): Promise<Batch[]> {
  const { failedBefore, again } = decided.counts;
  const known = failedBefore + again > 0 ? undefined : await knownUpload(context, namedUpload.name);
  if (!known) return [];
  const journal = await context.journal();
  return known.batches.flatMap(({ key, id, layout }) => {
    const record = id === undefined ? undefined : journal.find(key, context.settings.baseUrl.value);
    // This machine journals uploads as rows of cells, so the cast is safe.
    return record ? [{ key, rows: listIn(record.body, 'rows') as readonly UploadRow[], ...layout }] : [];
  });
}

/**
 * Everything that an upload orders, for policy checks. Empty if there is no policy, so that the file need not be read
 * again.
 */
export async function proposedByUpload(
  context: Context,
  upload: Pick<Upload, 'name' | 'namedUpload' | 'decided' | 'batchSize' | 'notifies'>,
): Promise<ProposedOrder[]> {
  if (!(await hasPolicy(context))) return [];
  const { name, decided, batchSize, notifies } = upload;
  const before = await batchesBefore(context, upload);
  async function* batches() {
    yield* [...before, ...decided.settling()];
    yield* decided.batches(batchSize);
  }
  const proposed = await proposedByBatches(context, batches(), { name, notifies });
  const firstRow = ({ numbers = [] }: ProposedOrder): number => numbers[0] ?? 0;
  return proposed.sort((one, other) => firstRow(one) - firstRow(other));
}

/**
 * Everything that the batches would order, for policy checks. Empty if there is no policy. Batches that were sent, or
 * may have been, count toward the total but are not checked again.
 */
export async function proposedByBatches(
  context: Context,
  batches: AsyncIterable<Batch> | Iterable<Batch>,
  { name, notifies }: Pick<Upload, 'name' | 'notifies'>,
): Promise<ProposedOrder[]> {
  if (!(await hasPolicy(context))) return [];
  const { baseUrl } = context.settings;
  const journal = journalExists(context.settings) ? await context.journal() : undefined;
  const sender = await context.sender();
  const proposed: ProposedOrder[] = [];
  for await (const { key, rows, numbers } of batches) {
    const record = journal?.find(key, baseUrl.value);
    const intent = await batchIntent(context, { key, filename: name, rows, notifies });
    proposed.push({ intent, numbers, isDone: record !== undefined && mayHaveMade(record, sender) });
  }
  return proposed;
}

export async function uploadBatch(
  context: Context,
  {
    key,
    rows,
    filename,
    notifies = false,
    numbers,
    headings,
    fileHeadings,
    serial,
    claim,
  }: SentOf & Pick<BatchIntent, 'filename'>,
): Promise<Uploaded> {
  context.signal.throwIfAborted();
  if (!context.previewsRequests)
    await (await context.uploads()).saveBatch(key, { numbers, headings, fileHeadings }, serial);
  const { id, existed } = await placeBatch(context, { key, filename, rows, notifies }, { claim });
  if (serial !== undefined) await recordBatchId(context, key, id);
  return { id, existed, rows: rows.length };
}

/**
 * Stores the batch's id for longer than the journal does. Storage errors are ignored, because they must not turn a
 * placed batch into a failure.
 */
async function recordBatchId(context: Context, key: string, id: string): Promise<void> {
  try {
    await (await context.uploads()).made(key, id);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}
