import { textIn } from '../../api/json.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { patiently } from '../../journal/postgres/connect.ts';
import { type Chunk, JobQueue } from '../../journal/postgres/queue.ts';
import { isBeingSent, workerOf } from '../../journal/take-over.ts';
import type { SavedUpload } from '../../journal/uploads.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { rowsText } from '../check/row-sample.ts';
import { decideRows, type RowsAsked } from '../needs/decide-rows.ts';
import { type Batch, batchIn } from '../upload/batches.ts';
import { type BatchToSend, cutShort, uploadBatch } from '../upload/upload.ts';
import type { Team } from './team.ts';
import { workOf } from './terms.ts';

const workersText = (count: number): string => (count === 1 ? '1 worker' : `${count} workers`);

/**
 * Places the rest of a shared upload together with the other workers. Journals each batch before sending it. Waits
 * until every batch is placed, by whichever worker. @throws ErrandError naming what stopped this worker. The other
 * workers continue.
 */
export async function placeTogether(
  team: Team,
  { serial, name, since }: Pick<SavedUpload, 'serial' | 'name'> & Pick<RowsAsked, 'since'>,
): Promise<void> {
  const { queue, job, context } = team;
  const { file, notifies, run, skipDuplicates, again } = workOf(job);
  const asked: RowsAsked = { door: 'upload', run, skipDuplicates, again, since };
  const ofJob = await queue.keys(job);
  const initial = await queue.progress(job);
  let last = initial;
  const progress = await context.progress({
    label: 'uploading',
    total: initial.rows,
    from: initial.sent,
    unit: 'rows',
    now: context.clock.monotonic,
  });
  const place = async (chunk: Chunk): Promise<void> => {
    const batch = await toPlace(context, batchIn(chunk.body), { asked, ofJob });
    const { id, existed } = batch
      ? await uploadBatch(context, { ...batch, filename: file, notifies, serial })
      : { id: '', existed: true };
    // Update the journal first, because nothing reads a batch again once the queue marks it done.
    await patiently(async () => (await context.journal()).bringIn(), context.signal);
    await queue.done(job, chunk, { id, existed });
  };
  const recordOf = async (key: string) => (await context.journal()).find(key, context.settings.baseUrl.value);
  /** Keys of batches on which another worker still has a lease. */
  const taken = new Set<string>();
  /** A worker without heartbeats may still be sending, because its lease on the journal record expires later. */
  const isTaken = async ({ body }: Chunk, error: ErrandError): Promise<boolean> => {
    if (error.category !== 'conflict') return false;
    if (error.facts.code === claimedCode) return true;
    const key = textIn(body, 'key') ?? '';
    const record = await recordOf(key);
    const isSending = isBeingSent(record);
    if (isSending) taken.add(key);
    return isSending || (record?.order_id ?? null) !== null;
  };
  const waits = async (): Promise<boolean> => {
    const { state, open } = await refresh(await waitedFor());
    return state === 'open' && open > 0;
  };
  try {
    for await (const _ of team.work('place', place, { waits, isTaken })) await refresh();
    await queue.finish(job);
  } catch (error) {
    let isKnown = true;
    const { rows, sent, workers } = await queue.progress(job).catch(() => {
      isKnown = false;
      return last;
    });
    const how = isKnown && workers > 1 ? 'the other workers go on' : 'the same command goes on from there';
    context.note(`${isKnown ? '' : 'at least '}${rowsText(sent)} of ${rows} are uploaded; ${how}`);
    // An error that an abort signal causes is not a storage failure.
    const isStopped = context.signal.aborted && error instanceof StorageError;
    throw cutShort(context, isStopped ? context.signal.reason : error, { name });
  } finally {
    progress.end();
  }

  async function refresh(waiting?: string) {
    const status = await queue.progress(job);
    last = status;
    const workers = status.workers > 1 ? workersText(status.workers) : '';
    progress.update(status.sent, waiting ?? workers, waiting !== undefined);
    return status;
  }

  /** Names the process whose lease blocks the remaining work: `waiting up to 144 s for process 4711 on ci-3`. */
  async function waitedFor(): Promise<string | undefined> {
    for (const key of taken) {
      const record = await recordOf(key);
      if (!record || !isBeingSent(record)) {
        taken.delete(key);
        continue;
      }
      const { who, leaseS } = workerOf(record);
      return `waiting${leaseS === undefined ? '' : ` up to ${leaseS} s`} for ${who}`;
    }
    return undefined;
  }
}

const claimedCode = 'claimed';

/**
 * Error for a batch that another worker was about to record. If that worker has died, the batch counts as not sent
 * after a while.
 */
const claimedBefore = ({ key }: Batch): ErrandError =>
  new ErrandError('conflict', `another worker was about to send ${key}`, {
    code: claimedCode,
    outcome: 'not_sent',
  });

/**
 * Decides again about the rows of a batch, because somebody may have ordered the same since the file was read. @param
 * ofJob holds the keys of all batches of the job. Their rows are not compared with each other. @returns the batch with
 * its claim; the batch without a claim if it may have been sent already; undefined if none of its rows is left to
 * order.
 */
async function toPlace(
  context: Context,
  batch: Batch,
  { asked, ofJob }: { readonly asked: RowsAsked; readonly ofJob: ReadonlySet<string> },
): Promise<BatchToSend | undefined> {
  const record = (await context.journal()).find(batch.key, context.settings.baseUrl.value);
  if (record && record.state !== 'refused') return batch;
  const source = {
    batches: async function* () {
      yield batch;
    },
    isOfFile: ({ upload }: Pick<Attempt, 'upload'>) => upload !== undefined && ofJob.has(upload),
  };
  const decided = await decideRows(context, source, asked);
  const { counts, refused } = decided;
  const isClaimed = refused
    .get('in_doubt')
    ?.first.some(({ attempts }) => attempts.some(({ upload }) => upload === batch.key));
  if (isClaimed) throw claimedBefore(batch);
  if (counts.new === counts.rows) return { ...batch, claim: decided.claimOf(batch) };
  context.note(`${rowsText(counts.rows - counts.new)} were ordered by another command meanwhile: not sent`);
  for await (const rest of decided.batches(batch.rows.length))
    return { ...rest, claim: decided.claimOf(rest) };
  return undefined;
}

/** Interval in ms between checks for the workers' progress. */
const pauseMs = 500;

/**
 * Waits while any worker still places batches of the named shared uploads, so that all batches can be followed. @param
 * words are upload names and batch ids from the command line. @returns the remaining wait in ms; undefined if it is
 * unlimited. @throws StorageError.
 */
export async function untilPlaced(context: Context, words: readonly string[]): Promise<number | undefined> {
  const { clock, settings, signal } = context;
  const waitMs = context.waitMs();
  const names = words.filter((word) => word !== '-' && !uuidPattern.test(word));
  if (!settings.database || names.length === 0) return waitMs;
  const deadline = new Deadline(clock, waitMs);
  const { account, mac } = await context.sender();
  const owner = { baseUrl: settings.baseUrl.value, account };
  // Open the journal first, because this creates the tables.
  const { databaseId: database } = (await context.journal()).reservations.policies;
  const queue = new JobQueue(settings.database, signal, { mac, database });
  try {
    for (const name of names) {
      const { own } = await queue.enter(owner, name);
      if (own?.state === 'open') await placed(name, () => queue.progress(own));
    }
  } finally {
    await queue.leave();
  }
  return waitMs === undefined ? undefined : deadline.leftMs;

  async function placed(name: string, refresh: () => ReturnType<JobQueue['progress']>): Promise<void> {
    const initial = await refresh();
    const progress = await context.progress({
      ...{
        label: `uploading ${name}`,
        total: initial.rows,
        from: initial.sent,
        unit: 'rows',
        now: clock.monotonic,
      },
    });
    try {
      for (let now = initial; now.state === 'open' && now.workers > 0; now = await refresh()) {
        progress.update(now.sent, workersText(now.workers));
        if (!(await deadline.pause(pauseMs, signal))) return;
      }
    } finally {
      progress.end();
    }
  }
}
