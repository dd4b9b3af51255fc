import { uuidPattern } from '../../api/limits.ts';
import { countText } from '../../format/counts.ts';
import { type JournalPlace, journalExists } from '../../journal/journal-tables.ts';
import { isBeingSent } from '../../journal/take-over.ts';
import type { SavedBatch, SavedUpload, UploadOwner } from '../../journal/uploads.ts';
import { uploadsFile } from '../../journal/uploads-file.ts';
import { ErrandError, type NextStep, UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';
import { mayBeThere } from '../../platform/private-files.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { readIds } from '../../run/ids.ts';
import { rowsText } from '../check/row-sample.ts';
import { type Batch, type BatchRow, orderOfAttempt, rowsOf, tellingAttempts } from './batch.ts';
import { inFlight } from './concurrency-limiter.ts';
import { leftOutOf } from './source.ts';

/** Argument of commands that select batches. */
export const batchesArgument = {
  name: 'ids',
  names: 'batches',
  description: 'uploads or batches, by name or id; - reads them from stdin',
  required: true,
  variadic: true,
} as const;

/** A batch of an upload, with its state in the journal. */
interface SentBatch extends SavedBatch {
  /** Whether the batch was sent or is about to be sent, but has no recorded response. */
  readonly isInDoubt: boolean;
}

/** An upload known to this machine. */
export interface KnownUpload extends Omit<SavedUpload, 'batches'> {
  readonly batches: readonly SentBatch[];
  /** Number of the file's rows that are in batches at the service. */
  readonly sent: number;
}

/** Batches named on a command line. */
export interface NamedBatches {
  /** Ids of the batches, in order of creation. */
  readonly ids: readonly string[];
  /**
   * Words that select all these batches in a suggested command. If the user gave the name of an upload, so does the
   * command.
   */
  readonly words: readonly string[];
  /** The uploads to which these batches belong. */
  readonly uploads: readonly KnownUpload[];
  /** Reduces batches to the rows that count: it drops rows that a later batch of the same upload has retried. */
  readonly counted: (batches: Iterable<Batch>) => Batch[];
}

/** The service and account whose upload names the command line refers to. */
export const uploadOwner = async (context: Context): Promise<UploadOwner> => ({
  baseUrl: context.settings.baseUrl.value,
  account: (await context.sender()).account,
});

/** Whether uploads were ever recorded on this machine. */
export const hasUploads = ({ settings }: { readonly settings: JournalPlace }): boolean =>
  settings.database !== undefined || mayBeThere(uploadsFile(settings.folders.state));

/** This machine's uploads to this service, newest first. @throws StorageError. */
export async function knownUploads(context: Context): Promise<KnownUpload[]> {
  if (!hasUploads(context)) return [];
  const uploads = (await context.uploads()).list(await uploadOwner(context));
  return Promise.all(uploads.map((upload) => known(context, upload)));
}

/** Finds an upload by name; undefined if this machine has none. @throws StorageError. */
export async function knownUpload(context: Context, name: string): Promise<KnownUpload | undefined> {
  if (!hasUploads(context)) return undefined;
  const upload = (await context.uploads()).named(await uploadOwner(context), name);
  return upload && known(context, upload);
}

async function known(context: Context, upload: SavedUpload): Promise<KnownUpload> {
  const { baseUrl } = context.settings;
  const journal = journalExists(context.settings) ? await context.journal() : undefined;
  const batches = upload.batches.map((batch) => {
    const record = batch.id === undefined ? journal?.find(batch.key, baseUrl.value) : undefined;
    const id = batch.id ?? record?.order_id ?? undefined;
    return {
      ...batch,
      id,
      isInDoubt: id === undefined && record?.state === 'intended' && !isBeingSent(record),
    };
  });
  const sent = new Set(batches.flatMap(({ id, layout }) => (id === undefined ? [] : layout.numbers)));
  return { ...upload, batches, sent: sent.size };
}

/**
 * Resolves words to batches. A word is an id or the name of an upload; `-` reads one word per line from stdin. @throws
 * UsageError naming an unknown word; ErrandError for an upload of which the service has nothing yet.
 */
export async function namedBatches(context: Context, given: readonly string[]): Promise<NamedBatches> {
  const words = await readIds(context, 'batch', given, (_, word, where) => wordOf(word, where));
  const ids = new Set<string>();
  const uploads: KnownUpload[] = [];
  for (const word of words) {
    if (uuidPattern.test(word)) {
      ids.add(word);
      continue;
    }
    const upload = await knownUpload(context, word);
    if (upload === undefined) throw await unknownName(context, word);
    const made = upload.batches.flatMap(({ id }) => id ?? []);
    if (made.length === 0) throw nothingSent(context, upload);
    uploads.push(upload);
    for (const id of made) ids.add(id);
  }
  return { ids: [...ids], words, uploads, counted: countedOnce(uploads) };
}

/** Normalizes a word: ids in lowercase, names unchanged. */
function wordOf(word: string, where: string | undefined): string {
  const text = word.trim();
  if (text !== '') return uuidPattern.test(text) ? text.toLowerCase() : text;
  throw new UsageError(`an empty text${where ? ` (stdin, ${where})` : ''} names no upload and no batch`);
}

/**
 * Counts each row of an upload once, by its latest attempt. An attempt does not count if it found that the row already
 * had an order.
 */
function countedOnce(uploads: readonly KnownUpload[]): NamedBatches['counted'] {
  const tried = uploads.filter(({ batches }) => {
    const numbers = batches.flatMap(({ layout }) => layout.numbers);
    return new Set(numbers).size < numbers.length;
  });
  return (given) => tried.reduce(onceIn, [...given]);
}

/** A row of a batch, as one attempt at a row of the file. */
interface Attempt {
  readonly batch: Batch;
  readonly row: BatchRow;
  readonly orderId: string | undefined;
}

function onceIn(given: readonly Batch[], { batches }: KnownUpload): Batch[] {
  const numbersOf = new Map(batches.flatMap(({ id, layout }) => (id ? [[id, layout.numbers] as const] : [])));
  const order = [...numbersOf.keys()];
  const attempts = new Map<number, Attempt[]>();
  for (const batch of given.toSorted((one, other) => order.indexOf(one.id) - order.indexOf(other.id)))
    for (const row of rowsOf(batch)) {
      const number = numbersOf.get(batch.id)?.[row.index];
      if (number === undefined) continue;
      const attempt = { batch, row, orderId: orderOfAttempt(row, batch) };
      const known = attempts.get(number);
      if (known) known.push(attempt);
      else attempts.set(number, [attempt]);
    }
  const counting = new Map(
    [...attempts].map(([number, made]) => [number, tellingAttempts(made).at(-1)?.batch]),
  );
  return given.map((batch) => {
    const numbers = numbersOf.get(batch.id);
    const all = rowsOf(batch);
    const rows = all.filter(({ index }) => {
      const latest = counting.get(numbers?.[index] ?? -1);
      return latest === undefined || latest === batch;
    });
    if (rows.length === all.length) return batch;
    return {
      ...batch,
      row_count: Number(batch.row_count) - (all.length - rows.length),
      rows: rows.map(({ index, record }) => ({ ...record, index })),
    } as Batch;
  });
}

/** @returns an error for an unknown name, with the closest known name as a suggestion. */
export async function unknownName(context: Context, word: string): Promise<UsageError> {
  const near = nearestWord(
    word,
    (await knownUploads(context)).map(({ name }) => name),
  );
  const suggestion = near === undefined ? '' : `Did you mean ${near}? `;
  const whole = /^[\da-f-]{8,35}$/i.test(word) ? 'Without a terminal, an id is given whole. ' : '';
  return new UsageError(`"${word}" is neither the name of an upload here nor the id of a batch`, {
    hint: `${suggestion}${whole}\`errand bulk uploads\` lists the names, \`errand bulk list -o id\` prints ids.`,
  });
}

function nothingSent(context: Context, upload: KnownUpload): ErrandError {
  const next = resumeStep(context, upload);
  return isInDoubt(upload)
    ? new ErrandError('in_doubt', `${upload.name} was sent, and no response came`, {
        outcome: 'unknown',
        next: [next],
      })
    : new ErrandError('not_found', `nothing of ${upload.name} is at the service yet`, {
        outcome: 'not_sent',
        next: [next],
      });
}

/** Command that completes an upload. */
export const resumeStep = (context: Context, { name }: Pick<KnownUpload, 'name'>): NextStep => ({
  command: `errand bulk resume ${shellWord(name)}${whereFlags(context)}`,
  when: 'to go on with it',
});

/** Number of rows that are not at the service yet, as far as this machine knows. */
export const unsentIn = ({ rows, sent }: KnownUpload): number => Math.max(0, rows - sent);

/** Whether any batch of the upload was sent without a recorded response. */
export const isInDoubt = ({ batches }: KnownUpload): boolean => batches.some((batch) => batch.isInDoubt);

/** Upload names by batch id. */
export const uploadNames = (uploads: readonly KnownUpload[]): ReadonlyMap<string, string> =>
  new Map(
    uploads.flatMap(({ name, batches }) => batches.flatMap(({ id }) => (id ? [[id, name] as const] : []))),
  );

/**
 * The upload that a batch belongs to; undefined if this machine did not make the batch, or if the batch belongs to no
 * named upload. @throws StorageError.
 */
export async function uploadOfBatch(
  context: Context,
  id: string,
): Promise<Pick<SavedUpload, 'serial' | 'name'> | undefined> {
  if (!hasUploads(context)) return undefined;
  const made = (await context.journal()).madeBy(id, context.settings.baseUrl.value);
  return made && (await context.uploads()).ofBatch(made.key);
}

/** Maximum number of batches to fetch concurrently. */
const maxInFlight = 4;

/**
 * Fetches batches in the order of `ids`. @param read holds batches that were just fetched and need not be fetched
 * again.
 */
export async function readBatches(
  context: Context,
  ids: readonly string[],
  read: ReadonlyMap<string, Batch> = new Map(),
): Promise<Batch[]> {
  const client = await context.client();
  const found = new Map(read);
  async function* missing() {
    for (const id of ids) if (!found.has(id)) yield id;
  }
  const reading = inFlight(
    missing(),
    async (id) => [id, (await client.call('bulk.get', { path: { batch_id: id } })).body] as const,
    { limit: maxInFlight, now: context.clock.monotonic },
  );
  for await (const [id, batch] of reading) found.set(id, batch);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * Reports rows of uploads that the service lacks or may lack, such as `december: 11,000 of 20,000 rows are not sent
 * yet`.
 */
export const unsentLines = (uploads: readonly KnownUpload[]): string[] =>
  uploads.flatMap((upload) => {
    const left = unsentIn(upload);
    const doubt = isInDoubt(upload);
    if (left > 0)
      return [
        `${upload.name}: ${countText(left)} of ${rowsText(upload.rows)} are not sent yet${doubt ? ' or are in doubt' : ''}`,
      ];
    return doubt ? [`${upload.name}: a retry of it was sent, and no response came`] : [];
  });

/**
 * Error for a retry of uploads of which no row has failed, and which are not complete either; undefined if they are.
 * @returns ErrandError conflict.
 */
export function unsentRows(context: Context, uploads: readonly KnownUpload[]): ErrandError | undefined {
  const lines = unsentLines(uploads);
  if (lines.length === 0) return undefined;
  return new ErrandError('conflict', `${lines.join('; ')}, and no other row has failed; nothing was sent`, {
    code: 'rows_unsent',
    outcome: uploads.some(isInDoubt) ? 'unknown' : 'not_sent',
    retryable: false,
    next: completingSteps(context, uploads),
  });
}

/** Reports the rows that uploads skipped, such as `december: 3 rows were left out as invalid (rows 4, 9, 12)`. */
export const leftOutLines = (uploads: readonly KnownUpload[]): string[] =>
  uploads.flatMap(({ name, source }) => {
    const { count, first } = leftOutOf(source);
    if (count === 0) return [];
    const rows =
      first.length === 0
        ? ''
        : ` (${first.length === 1 ? 'row' : 'rows'} ${first.join(', ')}${count > first.length ? ', …' : ''})`;
    return [
      `${name}: ${rowsText(count)} of the file ${count === 1 ? 'was' : 'were'} left out as invalid${rows}`,
    ];
  });

/** Commands that complete uploads of which something is not sent yet. */
export const completingSteps = (context: Context, uploads: readonly KnownUpload[]): NextStep[] =>
  uploads
    .filter((upload) => unsentIn(upload) > 0 || isInDoubt(upload))
    .map((upload) => resumeStep(context, upload));
