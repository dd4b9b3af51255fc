import { hostname } from 'node:os';
import { isObject, type JsonObject, numberIn, own, textIn } from '../../api/json.ts';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { formatMoney } from '../../format/money.ts';
import { type Job, type JobOwner, JobQueue, RequestBudget } from '../../journal/postgres/queue.ts';
import type { NewUpload } from '../../journal/uploads.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import {
  ErrandError,
  type ErrorCategory,
  exitCodes,
  StorageError,
  UsageError,
} from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { consentOf } from '../../spending/options.ts';
import { rowsText } from '../check/row-sample.ts';
import { batchIn, serializeBatch } from '../upload/batches.ts';
import { beginUpload, checkUploadName, type NamedUpload, nameOfFile } from '../upload/begin.ts';
import {
  type PreparedUpload,
  placeQuestion,
  prepareUpload,
  sha256Of,
  type UploadGiven,
} from '../upload/prepare.ts';
import { settleOpen } from '../upload/settle-open.ts';
import type { Source } from '../upload/source.ts';
import {
  proposedByBatches,
  proposedByUpload,
  reserveUpload,
  type Sent,
  type Uploaded,
} from '../upload/upload.ts';
import { checkTogether, groupsOf, helpChecking } from './check-together.ts';
import { SharedPace } from './pace.ts';
import { placeTogether } from './place-together.ts';
import { Team } from './team.ts';
import { checkNotElsewhere, checkTerms, serializeTerms, termsOf, type WorkerFlags, workOf } from './terms.ts';

/** Options of a shared upload. */
export type SharedGiven = UploadGiven & WorkerFlags;

/** Result of a shared upload, as the user sees it. */
export interface SharedSent {
  readonly sent: Sent;
  readonly facts: readonly string[];
  /** Whether any batch that was sent earlier was ordered only now. */
  readonly hasOrdered: boolean;
}

/** Result of placing the batches, before the journal's open records are settled. */
type Placed = Omit<SharedSent, 'sent' | 'hasOrdered'> & {
  readonly sent: { readonly name: string; readonly batches: readonly Uploaded[] };
};

/** Number of batches to enqueue at once. */
const atOnce = 5;

/**
 * Uploads a file as one of several workers. The first worker reads the file. All workers have the service validate its
 * rows, and place their orders. @param source is undefined if other workers have the file. @throws ErrandError naming
 * what stopped this worker. The other workers continue.
 */
export async function distributeUpload(
  context: Context,
  address: DatabaseAddress,
  source: Source | undefined,
  given: SharedGiven,
): Promise<SharedSent> {
  const { account, keyMasked, mac } = await context.sender();
  const owner = { baseUrl: context.settings.baseUrl.value, account };
  const file = source && { name: source.name, sha256: await sha256Of(source) };
  const name = given.name === undefined ? undefined : checkUploadName(given.name);
  // Open the journal first, because this creates the tables.
  const { databaseId: database } = (await context.journal()).reservations.policies;
  const queue = new JobQueue(address, context.signal, { mac, database });
  const budget = new RequestBudget(address, owner, context.signal);
  const pace = new SharedPace(budget, context.clock);
  const coming = { owner, keyMasked, name, file, flags: given };
  try {
    for (;;) {
      const job = await enter(queue, coming);
      if (job.state === 'refused') throw rejectionError(job);
      await queue.work(job);
      await budget.begin(job, workOf(job).rate);
      context.pace.current = pace;
      const team = new Team(context, queue, pace, job);
      if (job.isReader && source) return await settled(team, await readAndPlace(team, source, given));
      const ready = job.state === 'reading' ? await untilRead(team, file !== undefined) : job;
      if (!ready) continue;
      checkTerms(ready, given, file);
      return await settled(team, await joinAndPlace(team, ready, given));
    }
  } finally {
    await queue.leave();
    // Close the connection for now. If the user watches the batches later, the next turn reopens it.
    budget.close();
  }
}

/** Settles the journal's open records. Includes records that a dead worker left open, because all batches are shown. */
async function settled({ context }: Team, placed: Placed): Promise<SharedSent> {
  const { name, batches } = placed.sent;
  const { facts, hasOrdered } = await settleOpen(context, name, new Set(batches.map(({ id }) => id)));
  return { ...placed, facts: [...placed.facts, ...facts], hasOrdered };
}

/** Reads the file, has all workers validate it, opens the queue and processes its batches. */
async function readAndPlace(team: Team, source: Source, given: SharedGiven): Promise<Placed> {
  const { context, queue, job } = team;
  let prepared: PreparedUpload | undefined;
  try {
    prepared = await prepareUpload(context, source, given, {
      checkRows: (name, batches) => checkTogether(team, name, batches),
      isShared: true,
    });
    if (!prepared) throw new Error('a whole file has rows');
    const { check, upload } = prepared;
    const giveBack = await reserveUpload(context, await proposedByUpload(context, upload), upload);
    return await leaving(team, giveBack, async () => {
      const { serial, name } = await beginUpload(context, upload.namedUpload);
      const facts = {
        upload: name,
        estimate: check.spend.estimate,
        since: upload.decided.since,
        beginning: { ...upload.namedUpload.upload },
      };
      await queue.open(job, facts, chunksOf(upload.batchSize, prepared));
      await placeTogether(team, { serial, name, since: upload.decided.since });
      return {
        sent: { name, batches: await placedBatches(team, false) },
        facts: prepared?.facts ?? [],
      };
    });
  } catch (error) {
    if (error instanceof ErrandError && !context.signal.aborted && !(error instanceof StorageError))
      await queue.refuse(job, { category: error.category, message: error.message, host: hostname() });
    throw error;
  }
}

async function* chunksOf(size: number, prepared: PreparedUpload | undefined) {
  if (!prepared) return;
  let batchIndex = 0;
  const { decided } = prepared.upload;
  async function* batches() {
    yield* decided.settling();
    yield* decided.batches(size);
  }
  for await (const some of groupsOf(batches(), atOnce))
    yield some.map((batch) => ({ place: batchIndex++, body: serializeBatch(batch) }));
}

/**
 * Helps the worker that reads the file. @returns the job once its batches can be placed; undefined if the reading
 * worker has died.
 */
async function untilRead(team: Team, hasFile: boolean): Promise<Job | undefined> {
  const { context, queue } = team;
  const { name, readerHost } = team.job;
  context.note(
    `${name} is being read by a worker on ${readerHost ?? 'another machine'}; this one helps with it`,
  );
  let now: Job | undefined = team.job;
  await helpChecking(team, async () => {
    now = await queue.read(team.job);
    return now?.state === 'reading' && now.readerHost !== undefined;
  });
  now = await queue.read(team.job);
  if (now?.state === 'refused') throw rejectionError(now);
  if (now?.state === 'open' || now?.state === 'done') return now;
  if (hasFile) return undefined;
  throw nobodyReads(team.job);
}

/** Joins an open queue whose rows another worker has read. */
async function joinAndPlace(team: Team, job: Job, given: SharedGiven): Promise<Placed> {
  const { context, queue } = team;
  const isOver = job.state === 'done';
  const namedUpload = namedUploadOf(job);
  const { rows, sent } = await queue.progress(job);
  const left = rows - sent;
  if (!isOver)
    await confirmSpending(context, {
      yes: given.yes ?? false,
      question: placeQuestion(left),
      lines: async () => [
        `  ${namedUpload.name}: ${rowsText(left)} of ${rows} are left`,
        `  all of them at most ${formatMoney(numberIn(job.facts, 'estimate') ?? 0)}`,
      ],
    });
  const giveBack = isOver
    ? async () => {}
    : await reserveUpload(context, await proposedBy(team), consentOf(given));
  return leaving(team, giveBack, async () => {
    const { serial, name } = await beginUpload(context, namedUpload);
    if (!isOver) await placeTogether(team, { serial, name, since: numberIn(job.facts, 'since') });
    return { sent: { name, batches: await placedBatches(team, isOver) }, facts: [] };
  });
}

/** All workers share the reservation. The last worker to leave releases the amount for batches that were never sent. */
async function leaving<T>(team: Team, giveBack: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    const { workers } = await team.queue.progress(team.job).catch(() => ({ workers: 2 }));
    if (workers <= 1) await giveBack();
  }
}

async function proposedBy({ context, queue, job }: Team) {
  const { file, notifies } = workOf(job);
  async function* batches() {
    for await (const { body } of queue.orders(job)) yield batchIn(body);
  }
  return proposedByBatches(context, batches(), { name: file, notifies });
}

/**
 * All batches of the upload, whichever worker sent them. @param isOver tells whether the upload was already complete
 * when this worker joined.
 */
async function placedBatches({ queue, job }: Team, isOver: boolean): Promise<Uploaded[]> {
  const placed = await queue.placed(job);
  return placed.flatMap(({ rows, result }) => {
    const id = textIn(result, 'id') ?? '';
    // A batch is not sent if other commands have ordered all of its rows in the meantime. Such a batch has no id.
    return id === '' ? [] : { id, rows, existed: isOver || own(result, 'existed') === true };
  });
}

function namedUploadOf({ name, facts }: Job): NamedUpload {
  const stored = own(facts, 'beginning');
  const source: JsonObject = isObject(own(stored, 'source')) ? (own(stored, 'source') as JsonObject) : {};
  const upload: NewUpload = {
    identity: textIn(stored, 'identity') ?? '',
    file: textIn(stored, 'file') ?? '',
    rows: numberIn(stored, 'rows') ?? 0,
    source,
  };
  return { name: textIn(facts, 'upload') ?? name, upload };
}

/** A worker that joins a shared upload, and its inputs. */
interface Coming {
  readonly owner: JobOwner;
  readonly keyMasked: string;
  /** undefined if the name is derived from the file. */
  readonly name: string | undefined;
  /** undefined if this worker has no file, and takes the rows from the database. */
  readonly file: { readonly name: string; readonly sha256: string } | undefined;
  readonly flags: WorkerFlags;
}

/**
 * Joins the current job of an upload name. This worker becomes the job's reader if it has the file, the file was not
 * read yet and no live worker is reading it. @throws ErrandError if the job differs from this worker's options.
 */
async function enter(queue: JobQueue, { owner, keyMasked, name, file, flags }: Coming): Promise<Job> {
  const requested = name ?? nameOfFile(file?.name ?? '');
  const begin = file && { sentWith: keyMasked, terms: serializeTerms(termsOf(flags, file)) };
  for (let count = 1; ; count += 1) {
    const called = count === 1 ? requested : `${requested}-${count}`;
    const { own, elsewhere } = await queue.enter(owner, called, begin);
    checkNotElsewhere(elsewhere, { keyMasked, baseUrl: owner.baseUrl });
    if (!own) throw nobodyShares(called);
    if (own.isReader) return own;
    // A finished job may belong to a different file of the same name, such as last month's.
    const isPast = own.state === 'done' && name === undefined && file?.sha256 !== textIn(own.terms, 'sha256');
    if (isPast) continue;
    checkTerms(own, flags, file);
    return own;
  }
}

/** Error for a job that cannot proceed, because the worker that read its file ended with an error. */
function rejectionError({ name, facts }: Job): ErrandError {
  const category = textIn(facts, 'category') ?? '';
  const message = textIn(facts, 'message') ?? 'it was refused';
  return new ErrandError(isCategory(category) ? category : 'ended_badly', `${name}: ${message}`, {
    outcome: 'not_sent',
    hint: `The worker on ${textIn(facts, 'host') ?? 'another machine'} has read its file, and shows more.`,
  });
}

const isCategory = (text: string): text is ErrorCategory => Object.hasOwn(exitCodes, text);

const nobodyShares = (name: string): UsageError =>
  new UsageError(`no worker has begun to share an upload called ${name}`, {
    hint: 'The first worker needs the file: `errand bulk upload FILE --share`. `errand bulk uploads` lists the names.',
  });

/** Error if the reading worker has died and this worker does not have the file. */
const nobodyReads = ({ name }: Job): ErrandError =>
  new ErrandError(
    'unavailable',
    `the worker that read the file of ${name} has gone, and this one has no file`,
    {
      outcome: 'not_sent',
      hint: 'Start a worker that has the file: `errand bulk upload FILE --share`.',
    },
  );
