import { hostname } from 'node:os';
import { isObject, type JsonObject, numberIn, own, textIn } from '../../api/json.ts';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { formatMoney } from '../../format/money.ts';
import {
  type Campaign,
  type CampaignOwner,
  RequestBudget,
  ShareQueue,
} from '../../journal/postgres/queue.ts';
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
import { batchIn, keptBatch } from '../upload/batches.ts';
import { type BeginningUpload, beginUpload, checkUploadName, nameOfFile } from '../upload/begin.ts';
import {
  type PreparedUpload,
  placeQuestion,
  prepareUpload,
  sha256Of,
  type UploadGiven,
} from '../upload/prepare.ts';
import { settleOpen } from '../upload/settle-open.ts';
import type { Source } from '../upload/source.ts';
import { meantByBatches, meantByUpload, reserveUpload, type Sent, type Uploaded } from '../upload/upload.ts';
import { checkTogether, groupsOf, helpChecking } from './check-together.ts';
import { SharedPace } from './pace.ts';
import { placeTogether } from './place-together.ts';
import { Team } from './team.ts';
import { checkNotElsewhere, checkTerms, keptTerms, type Said, termsOf, workOf } from './terms.ts';

/** Options of a shared upload. */
export type SharedGiven = UploadGiven & Said;

/** Result of a shared upload, for the user. */
export interface SharedSent {
  readonly sent: Sent;
  readonly facts: readonly string[];
  readonly toldRows: ReadonlySet<number>;
  /** Whether a previously sent batch was ordered only now. */
  readonly hasOrdered: boolean;
}

/** Result before the journal's open records are settled. */
type Placed = Omit<SharedSent, 'sent' | 'hasOrdered'> & {
  readonly sent: { readonly name: string; readonly batches: readonly Uploaded[] };
};

/** Batches enqueued at once. */
const atOnce = 5;

/**
 * Uploads a file as one of several workers: the first one reads it, and all of them validate its rows with the service
 * and place them.
 * @param source undefined if other workers have the file. @throws ErrandError: what stopped this worker; the others
 * continue.
 */
export async function shareUpload(
  context: Context,
  address: DatabaseAddress,
  source: Source | undefined,
  given: SharedGiven,
): Promise<SharedSent> {
  const { account, keyMasked } = await context.sender();
  const owner = { baseUrl: context.settings.baseUrl.value, account };
  const file = source && { name: source.name, sha256: await sha256Of(source) };
  const name = given.name === undefined ? undefined : checkUploadName(given.name);
  // Opening the journal creates the tables.
  await context.journal();
  const queue = new ShareQueue(address, context.signal);
  const budget = new RequestBudget(address, owner, context.signal);
  const pace = new SharedPace(budget, context.clock);
  const coming = { owner, keyMasked, name, file, said: given };
  try {
    for (;;) {
      const campaign = await enter(queue, coming);
      if (campaign.state === 'refused') throw refusalOf(campaign);
      await queue.work(campaign);
      await budget.begin(campaign, workOf(campaign).rate);
      context.pace.kept = pace;
      const team = new Team(context, queue, pace, campaign);
      if (campaign.isReader && source) return await settled(team, await readAndPlace(team, source, given));
      const ready = campaign.state === 'reading' ? await untilRead(team, file !== undefined) : campaign;
      if (!ready) continue;
      checkTerms(ready, given, file);
      return await settled(team, await joinAndPlace(team, ready, given));
    }
  } finally {
    await queue.leave();
    // Watching takes further turns and reopens the connection.
    budget.close();
  }
}

/** Also settles records that a dead worker left open, since all batches are shown. */
async function settled({ context }: Team, placed: Placed): Promise<SharedSent> {
  const { name, batches } = placed.sent;
  const { facts, hasOrdered } = await settleOpen(context, name, new Set(batches.map(({ id }) => id)));
  return { ...placed, facts: [...placed.facts, ...facts], hasOrdered };
}

/** Reads the file, has all workers validate it, opens the queue and works on it. */
async function readAndPlace(team: Team, source: Source, given: SharedGiven): Promise<Placed> {
  const { context, queue, campaign } = team;
  let prepared: PreparedUpload | undefined;
  try {
    prepared = await prepareUpload(context, source, given, {
      checkRows: (name, batches) => checkTogether(team, name, batches),
      isShared: true,
    });
    if (!prepared) throw new Error('a whole file has rows');
    const { check, upload } = prepared;
    const giveBack = await reserveUpload(context, await meantByUpload(context, check, upload), upload);
    return await leaving(team, giveBack, async () => {
      const { serial, name } = await beginUpload(context, upload.beginning);
      const facts = {
        upload: name,
        estimate: check.spend.estimate,
        beginning: { ...upload.beginning.upload },
      };
      await queue.open(campaign, facts, chunksOf(upload.batchSize, prepared));
      await placeTogether(team, { serial, name });
      return {
        sent: { name, batches: await placedBatches(team, false) },
        facts: prepared?.facts ?? [],
        toldRows: prepared?.toldRows ?? new Set(),
      };
    });
  } catch (error) {
    if (error instanceof ErrandError && !context.signal.aborted && !(error instanceof StorageError))
      await queue.refuse(campaign, { category: error.category, message: error.message, host: hostname() });
    throw error;
  }
}

async function* chunksOf(size: number, prepared: PreparedUpload | undefined) {
  if (!prepared) return;
  let place = 0;
  for await (const some of groupsOf(prepared.check.batches(size), atOnce))
    yield some.map((batch) => ({ place: place++, body: keptBatch(batch) }));
}

/** Helps the reading worker. @returns the campaign once it can be worked on; undefined if the reader has died. */
async function untilRead(team: Team, hasFile: boolean): Promise<Campaign | undefined> {
  const { context, queue } = team;
  const { name, readerHost } = team.campaign;
  context.note(
    `${name} is being read by a worker on ${readerHost ?? 'another machine'}; this one helps with it`,
  );
  let now: Campaign | undefined = team.campaign;
  await helpChecking(team, async () => {
    now = await queue.read(team.campaign);
    return now?.state === 'reading' && now.readerHost !== undefined;
  });
  now = await queue.read(team.campaign);
  if (now?.state === 'refused') throw refusalOf(now);
  if (now?.state === 'open' || now?.state === 'done') return now;
  if (hasFile) return undefined;
  throw nobodyReads(team.campaign);
}

/** Joins an open queue, whose rows another worker has read. */
async function joinAndPlace(team: Team, campaign: Campaign, given: SharedGiven): Promise<Placed> {
  const { context, queue } = team;
  const isOver = campaign.state === 'done';
  const beginning = beginningOf(campaign);
  const { rows, sent } = await queue.standing(campaign);
  const left = rows - sent;
  if (!isOver)
    await confirmSpending(context, {
      yes: given.yes ?? false,
      question: placeQuestion(left),
      lines: async () => [
        `  ${beginning.name}: ${rowsText(left)} of ${rows} are left`,
        `  all of them at most ${formatMoney(numberIn(campaign.facts, 'estimate') ?? 0)}`,
      ],
    });
  const giveBack = isOver
    ? async () => {}
    : await reserveUpload(context, await meantBy(team), consentOf(given));
  return leaving(team, giveBack, async () => {
    const { serial, name } = await beginUpload(context, beginning);
    if (!isOver) await placeTogether(team, { serial, name });
    return { sent: { name, batches: await placedBatches(team, isOver) }, facts: [], toldRows: new Set() };
  });
}

/** The reservation is shared by all workers; the last one to leave releases what was never sent. */
async function leaving<T>(team: Team, giveBack: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    const { workers } = await team.queue.standing(team.campaign).catch(() => ({ workers: 2 }));
    if (workers <= 1) await giveBack();
  }
}

async function meantBy({ context, queue, campaign }: Team) {
  const { file, notifies } = workOf(campaign);
  async function* batches() {
    for await (const { body } of queue.orders(campaign)) yield batchIn(body);
  }
  return meantByBatches(context, batches(), { name: file, notifies });
}

/**
 * All batches of the upload, whichever worker sent them. @param isOver whether it was complete before this worker
 * joined.
 */
async function placedBatches({ queue, campaign }: Team, isOver: boolean): Promise<Uploaded[]> {
  const placed = await queue.placed(campaign);
  return placed.map(({ rows, result }) => ({
    id: textIn(result, 'id') ?? '',
    rows,
    existed: isOver || own(result, 'existed') === true,
  }));
}

function beginningOf({ name, facts }: Campaign): BeginningUpload {
  const kept = own(facts, 'beginning');
  const source: JsonObject = isObject(own(kept, 'source')) ? (own(kept, 'source') as JsonObject) : {};
  const upload: NewUpload = {
    identity: textIn(kept, 'identity') ?? '',
    file: textIn(kept, 'file') ?? '',
    rows: numberIn(kept, 'rows') ?? 0,
    source,
  };
  return { name: textIn(facts, 'upload') ?? name, upload };
}

/** A worker joining a shared upload, and its inputs. */
interface Coming {
  readonly owner: CampaignOwner;
  readonly keyMasked: string;
  /** undefined to derive it from the file. */
  readonly name: string | undefined;
  /** undefined if this worker has no file and takes the rows from the database. */
  readonly file: { readonly name: string; readonly sha256: string } | undefined;
  readonly said: Said;
}

/**
 * Joins the current campaign of a name. Either this worker becomes its reader, or another one is or was.
 * @throws ErrandError if the campaign differs from this worker's options.
 */
async function enter(queue: ShareQueue, { owner, keyMasked, name, file, said }: Coming): Promise<Campaign> {
  const wanted = name ?? nameOfFile(file?.name ?? '');
  const begin = file && { sentWith: keyMasked, terms: keptTerms(termsOf(said, file)) };
  for (let count = 1; ; count += 1) {
    const called = count === 1 ? wanted : `${wanted}-${count}`;
    const { own, elsewhere } = await queue.enter(owner, called, begin);
    checkNotElsewhere(elsewhere, { keyMasked, baseUrl: owner.baseUrl });
    if (!own) throw nobodyShares(called);
    if (own.isReader) return own;
    // An earlier, different file had the same name, for example last month's.
    const isPast = own.state === 'done' && name === undefined && file?.sha256 !== textIn(own.terms, 'sha256');
    if (isPast) continue;
    checkTerms(own, said, file);
    return own;
  }
}

/** Why a campaign cannot proceed: its reader was refused. */
function refusalOf({ name, facts }: Campaign): ErrandError {
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

/** Error if the reader has died and this worker does not have the file. */
const nobodyReads = ({ name }: Campaign): ErrandError =>
  new ErrandError(
    'unavailable',
    `the worker that read the file of ${name} has gone, and this one has no file`,
    {
      outcome: 'not_sent',
      hint: 'Start a worker that has the file: `errand bulk upload FILE --share`.',
    },
  );
