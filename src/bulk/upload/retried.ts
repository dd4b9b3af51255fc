import { readAmount } from '../../api/amount.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import type { NoResult, StreamResult } from '../../format/result.ts';
import { saveFile } from '../../format/save-file.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { referenceKey } from '../../orders/needs/reference.ts';
import { byteOrderMark } from '../../platform/csv-cell.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { shellWord, typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { rowsText } from '../check/row-sample.ts';
import { isPriceHeading, shownHeadings } from '../csv/headings.ts';
import { readOutcomes, withOutcomes } from '../needs/later-attempts.ts';
import type { UploadRow } from '../rows.ts';
import {
  type Batch,
  type BatchRow,
  earlierOrder,
  isFailed,
  isMet,
  type LaterAttempt,
  rowsOf,
  stateOf,
  withdrawalOf,
} from './batch.ts';
import { codeOfReason, countedReasons, readReasons, reasonOf } from './columns.ts';
import { commandsFor, withdrawnCounts } from './follow.ts';
import { isUnnamed, withMetOrders } from './met-orders.ts';
import {
  isInDoubt,
  type KnownUpload,
  knownUploads,
  type NamedBatches,
  readBatches,
  resumeStep,
} from './named.ts';
import { findJournaledRows, type UploadedRows } from './uploaded-rows.ts';

/** Options that select the failed rows to retry. */
export const retriedOptions = {
  to: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: 'write the failed rows there as CSV, to correct them; - is stdout',
  },
  force: { kind: 'flag', description: 'with --to: write over a file' },
  reason: {
    kind: 'texts',
    placeholder: 'code',
    description: 'only rows that failed for it: max_price_exceeded …; repeat it for more',
  },
  raiseCeiling: {
    kind: 'text',
    placeholder: 'amount',
    description: "raise the ceiling of each row by 10% or '$5'; the new total is shown first",
  },
  file: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: 'the CSV that was uploaded as this one batch',
  },
  run: {
    kind: 'text',
    maxLength: 100,
    description: 'with --file: the --run under which it was uploaded',
  },
  again: { kind: 'flag', description: 'order again what was cancelled or returned, too' },
} as const;

/** A row to retry. It failed or was withdrawn. */
export interface FailedRow {
  readonly batch: Batch;
  readonly row: BatchRow;
  /** Reason such as `max_price_exceeded: …`; empty if it was not requested or is unknown. */
  readonly reason: string;
}

interface RetryFilter {
  /** Codes of the reasons to retry. If there are none, any failure counts. */
  readonly requested: readonly string[];
  readonly withReasons: boolean;
  /** Whether to include withdrawn rows. */
  readonly again: boolean;
}

/** The rows to retry, and the rows that stay as they are. */
interface Failures {
  readonly failed: readonly FailedRow[];
  /** Withdrawn rows that are left out. */
  readonly withdrawn: readonly FailedRow[];
  readonly later: readonly LaterAttempt[];
  /** Number of rows that the service says have an order already, and does not say which. */
  readonly unnamed: number;
}

/**
 * The rows of batches whose needs have no live order. @throws UsageError if there are such rows but none has one of
 * these reasons; ErrandError if none can be retried from this machine.
 */
export async function failedRows(
  context: Context,
  named: Pick<NamedBatches, 'ids' | 'uploads' | 'counted'>,
  { requested, withReasons, again }: RetryFilter,
): Promise<Failures> {
  const read = await withMetOrders(context, await readBatches(context, named.ids));
  const batches = named.counted(withOutcomes(read, await readOutcomes(context, named, read)));
  const ended = await endedRows(context, batches, { requested, withReasons });
  const isLeft = ({ row }: FailedRow): boolean => !again && withdrawalOf(row) !== undefined;
  return {
    failed: await knownHere(
      context,
      ended.filter((one) => !isLeft(one)),
    ),
    withdrawn: ended.filter(isLeft),
    later: batches.flatMap((batch) => rowsOf(batch).flatMap(({ later }) => later ?? [])),
    unnamed: batches.flatMap((batch) => rowsOf(batch).filter((row) => isUnnamed(row, batch))).length,
  };
}

async function endedRows(
  context: Context,
  batches: readonly Batch[],
  { requested, withReasons }: Pick<RetryFilter, 'requested' | 'withReasons'>,
): Promise<FailedRow[]> {
  const rows = batches.flatMap((batch) =>
    rowsOf(batch)
      .filter((row) => isFailed(row, batch) || stateOf(row, batch) === 'withdrawn')
      .map((row) => ({ batch, row, reason: '' })),
  );
  if (rows.length === 0 || (requested.length === 0 && !withReasons)) return rows;
  const reasons = await readReasons(context, batches);
  const ended = rows.map(({ batch, row }) => ({
    ...{ batch, row },
    reason: withdrawalOf(row) ?? reasonOf(row.record, reasons),
  }));
  if (requested.length === 0) return ended;
  const found = ended.filter(({ reason }) => requested.includes(codeOfReason(reason) ?? ''));
  if (found.length > 0) return found;
  throw new UsageError(
    `no row failed for ${requested.join(' or ')}; ${rowsText(ended.length)} failed: ${countedReasons(ended.map(({ reason }) => reason))}`,
  );
}

/**
 * Formats `2 withdrawn rows left out (1 returned, 1 cancelled); --again takes them, too`. @param isRefused tells
 * whether the policy refuses to order the rows again.
 */
export function leftOutText(withdrawn: readonly FailedRow[], isRefused: boolean): string {
  const [rows, them] = withdrawn.length === 1 ? ['row', 'it'] : ['rows', 'them'];
  const again = isRefused ? `the policy refuses to order ${them} again` : `--again takes ${them}, too`;
  return `${countText(withdrawn.length)} withdrawn ${rows} left out (${countsOf(withdrawn)}); ${again}`;
}

const countsOf = (withdrawn: readonly FailedRow[]): string =>
  withdrawnCounts(withdrawn.flatMap(({ row }) => withdrawalOf(row) ?? []));

/** Error for a retry whose rows were all withdrawn. @returns ErrandError conflict. */
export function withdrawnRows(
  context: Context,
  withdrawn: readonly FailedRow[],
  { name, word, isRefused }: { readonly name: string; readonly word: string; readonly isRefused: boolean },
): ErrandError {
  const [were, are, them] = withdrawn.length === 1 ? ['was', 'is', 'it'] : ['were', 'are', 'them'];
  const end = isRefused
    ? `, and the policy refuses to order ${them} again`
    : ` and ${are} not ordered again without --again`;
  const what = `${rowsText(withdrawn.length)} of ${name} ${were} withdrawn (${countsOf(withdrawn)})${end}`;
  return new ErrandError('conflict', `${what}; nothing was sent`, {
    code: 'rows_withdrawn',
    outcome: 'not_sent',
    retryable: false,
    details: { withdrawn: withdrawn.length },
    next: [
      { command: `errand bulk report ${shellWord(word)}${whereFlags(context)}`, when: 'to see which' },
      isRefused
        ? { command: `errand policy show${whereFlags(context)}`, when: 'to see every rule' }
        : {
            command: `${typedCommand(context.argv)} --again`,
            when: 'to order again what was cancelled or returned',
          },
    ],
  });
}

/** Error for a retry whose remaining rows may all have been ordered since. */
export const doubtfulRows = (context: Context, name: string, count: number): ErrandError =>
  new ErrandError(
    'conflict',
    `${rowsText(count)} of ${name} may be ordered since, which is in doubt; nothing was sent`,
    {
      code: 'rows_in_doubt',
      outcome: 'unknown',
      retryable: false,
      details: { in_doubt: count },
      next: [
        {
          command: `errand order journal resume --all${whereFlags(context)}`,
          when: 'to find out, safely',
        },
      ],
    },
  );

/** Error for a retry whose other rows have orders that the service does not name. */
export const unnamedOrders = (context: Context, { name, word, count }: UnnamedOrders): ErrandError =>
  new ErrandError(
    'conflict',
    `the service says that ${rowsText(count)} of ${name} ${count === 1 ? 'has an order' : 'have orders'} already, and not which; whether ${count === 1 ? 'it has' : 'any has'} failed is not known, and nothing was sent`,
    {
      code: 'rows_unnamed',
      outcome: 'not_sent',
      retryable: false,
      details: { unnamed: count },
      hint: 'Find them with `errand order list`. To order the rows of those that failed again, upload these rows with --run NAME.',
      next: [
        { command: `errand bulk report ${shellWord(word)}${whereFlags(context)}`, when: 'to see which' },
      ],
    },
  );

interface UnnamedOrders {
  readonly name: string;
  /** The upload or batch as the user named it. */
  readonly word: string;
  readonly count: number;
}

/** Maximum number of this machine's batches in which existing orders are searched, newest first. */
const maxBatches = 100;

/**
 * Leaves out rows that cannot be retried from this machine, and reports that. @throws ErrandError if no row is left.
 */
async function knownHere(context: Context, failed: readonly FailedRow[]): Promise<readonly FailedRow[]> {
  const { here, elsewhere } = await byOrigin(context, failed);
  if (elsewhere.length === 0) return failed;
  const what = elsewhereText(elsewhere.length);
  const hint = 'Retry that upload where it was made: a retry from here might order twice.';
  if (here.length === 0) throw new ErrandError('not_found', what, { outcome: 'not_sent', hint });
  context.note(`${what}, and left out here. ${hint}`);
  return here;
}

const elsewhereText = (count: number): string =>
  `${rowsText(count)} failed as ${count === 1 ? 'an order' : 'orders'} of an upload that this machine does not know`;

type Ended = Pick<FailedRow, 'batch' | 'row'>;

/**
 * Separates the rows whose key already had an order that this machine does not know. This machine cannot know whether
 * such a row was retried elsewhere. The exception is a row with a reference, by which later orders can be found.
 */
async function byOrigin<T extends Ended>(
  context: Context,
  ended: readonly T[],
): Promise<{ readonly here: readonly T[]; readonly elsewhere: readonly T[] }> {
  const met = new Set(ended.flatMap(({ row, batch }) => earlierOrder(row, batch) ?? []));
  if (met.size === 0) return { here: ended, elsewhere: [] };
  const made = await madeHere(context, met);
  const [here, elsewhere]: [T[], T[]] = [[], []];
  const sent = new Map<Batch, readonly UploadRow[]>();
  for (const one of ended) {
    const { row, batch } = one;
    const id = earlierOrder(row, batch);
    const rows = sent.get(batch) ?? (await findJournaledRows(context, batch))?.rows ?? [];
    sent.set(batch, rows);
    const isReferenced = rows[row.index]?.[`metadata.${referenceKey}`] !== undefined;
    (id === undefined || made.has(id) || isReferenced ? here : elsewhere).push(one);
  }
  return { here, elsewhere };
}

/**
 * Suggests retrying failed rows where that is possible. There is one command for each upload or batch with such rows.
 */
export async function retryLines(
  context: Context,
  of: { readonly batches: readonly Batch[]; readonly named: NamedBatches },
): Promise<string[]> {
  // Settle uploads in doubt first, because each of them may be a retry of these rows.
  if (of.named.uploads.some(isInDoubt)) return [];
  const failed: Ended[] = [];
  const unknown: string[] = [];
  for (const batch of of.batches) {
    const rows = rowsOf(batch).filter((row) => isFailed(row, batch));
    if (rows.length === 0) continue;
    const isKnown =
      journalExists(context.settings) && (await findJournaledRows(context, batch)) !== undefined;
    if (isKnown) failed.push(...rows.map((row) => ({ batch, row })));
    else unknown.push(batch.id);
  }
  const { here, elsewhere } = await byOrigin(context, failed);
  const batches = new Set(here.map(({ batch }) => batch.id));
  return [
    ...commandsFor(context, 'try again', 'retry', of, (_, { id }) => batches.has(id)),
    ...(elsewhere.length === 0 ? [] : [`${elsewhereText(elsewhere.length)}: try again where it was made`]),
    ...unknown.map(
      (id) =>
        `try again where it was uploaded, or with the CSV of the batch: errand bulk retry ${id} --file FILE${whereFlags(context)}`,
    ),
  ];
}

/** Those of the given orders that this machine's batches made. */
async function madeHere(context: Context, orders: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const made = new Set<string>();
  const uploads = await knownUploads(context);
  const ids = uploads.flatMap(({ batches }) => batches.flatMap(({ id }) => id ?? []).toReversed());
  for (const batchId of ids.slice(0, maxBatches)) {
    if (made.size === orders.size) break;
    const [batch] = await readBatches(context, [batchId]);
    for (const row of batch ? rowsOf(batch) : [])
      if (row.orderId !== undefined && orders.has(row.orderId) && batch && !isMet(row, batch))
        made.add(row.orderId);
  }
  return made;
}

/** Failed rows as they were uploaded, and their layout in the file, as far as it is known. */
export interface RetriedRows {
  readonly rows: readonly UploadRow[];
  readonly layout: TableLayout;
}

/** @param known loads the rows of a batch. @throws ErrandError if this machine does not know them. */
export async function rowsToRetry(
  failed: readonly FailedRow[],
  known: (batch: Batch) => Promise<UploadedRows>,
): Promise<RetriedRows> {
  const rows: UploadRow[] = [];
  const numbers: number[] = [];
  let found: TableLayout | undefined;
  for (const batch of new Set(failed.map((failure) => failure.batch))) {
    const { rows: uploaded, layout } = await known(batch);
    found ??= layout;
    for (const { row } of failed.filter((failure) => failure.batch === batch)) {
      const cells = uploaded[row.index];
      if (!cells)
        throw new ErrandError(
          'unavailable',
          `row ${row.index} of batch ${batch.id} is not among the rows that were uploaded`,
          { outcome: 'not_sent' },
        );
      rows.push(cells);
      numbers.push(...(layout?.numbers.slice(row.index, row.index + 1) ?? []));
    }
  }
  const isNumbered = numbers.length === rows.length;
  const { headings = [], fileHeadings } = found ?? {};
  return { rows, layout: { headings, fileHeadings, numbers: isNumbered ? numbers : [] } };
}

/**
 * Refuses to retry while a batch is in doubt, because the batch may contain the same rows. @param settling holds the
 * keys of batches in doubt that contain rows to retry. @param settled holds the keys of the batches that the retry
 * resends unchanged. @throws ErrandError in_doubt.
 */
export function checkSettled(
  context: Context,
  upload: KnownUpload | undefined,
  { settling, settled }: { readonly settling: readonly string[]; readonly settled: ReadonlySet<string> },
): void {
  const others = upload?.batches.flatMap(({ key, isInDoubt }) => (isInDoubt ? key : [])) ?? [];
  const open = [...settling, ...others].find((key) => !settled.has(key));
  if (open === undefined) return;
  throw new ErrandError(
    'in_doubt',
    `a batch of ${upload?.name ?? 'these rows'} was sent, and no response came`,
    {
      outcome: 'unknown',
      idempotencyKey: open,
      hint: 'Settle it first: it may hold the same rows. Nothing was sent now.',
      next: [
        upload
          ? resumeStep(context, upload)
          : { command: journalCommand('resume', open, whereFlags(context)), when: 'to find out, safely' },
      ],
    },
  );
}

/** How much to raise the ceilings: in basis points, or in cents. */
type Raise = { readonly basisPoints: number } | { readonly cents: number };

const percent = /^(\d{1,3})(?:\.(\d{1,2}))?\s?%$/;
const maxPercent = 100;

/** Parses `10%`, `2.5%` or `$5`. @throws UsageError. */
export function parseRaise(text: string): Raise {
  const [, units, fraction = ''] = percent.exec(text.trim()) ?? [];
  if (units === undefined) return { cents: parseAmount(text) };
  const basisPoints = Number(units) * 100 + Number(fraction.padEnd(2, '0'));
  if (basisPoints > 0 && basisPoints <= maxPercent * 100) return { basisPoints };
  throw new UsageError(
    `--raise-ceiling ${text}: write more than 0% and at most ${maxPercent}%, or an amount`,
  );
}

function parseAmount(text: string): number {
  const amount = readAmount(text);
  if (amount.problem !== undefined) throw new UsageError(`--raise-ceiling ${amount.problem}`);
  if (amount.isBare)
    throw new UsageError(`--raise-ceiling ${text} is ambiguous: write ${text}% or '$${text}'`);
  if (amount.cents > 0) return amount.cents;
  throw new UsageError(`--raise-ceiling ${text} raises nothing; write 10% or '$5'`);
}

/** Raises a row's ceiling. Rounds down, so that the raise is never larger than requested. */
export function raised(row: UploadRow, raise: Raise | undefined): UploadRow {
  const heading = Object.keys(row).find(isPriceHeading);
  if (raise === undefined || heading === undefined) return row;
  const cents = Number(row[heading]);
  const more = 'cents' in raise ? raise.cents : Math.floor((cents * raise.basisPoints) / 10_000);
  return { ...row, [heading]: String(cents + more) };
}

/** Formats `3 rows: at most $48.40, before $44.00, without fees`. Both totals are given in cents. */
export const raisedLine = (rows: number, cents: number, before: number): string =>
  `${rowsText(rows)}: at most ${formatMoney(cents)}, before ${formatMoney(before)}, without fees`;

/** Adds the failure reason as a column, for a file that the user will correct. */
export function withReason(row: UploadRow, reason: string): UploadRow {
  if (reason === '') return row;
  const heading = Object.hasOwn(row, 'reason') ? 'reason of the failure' : 'reason';
  return { ...row, [heading]: reason };
}

/**
 * Formats rows as CSV, with the columns and headings of their file, so that its map fits, and any further columns of the
 * rows. The heading of the price says that it is in cents. Cells that a spreadsheet would execute are escaped; errand
 * unescapes them when it reads the file.
 */
async function csvOf(
  rows: readonly UploadRow[],
  { headings, fileHeadings }: TableLayout,
  style: { readonly raw: boolean; readonly visible: boolean },
): Promise<string> {
  const { csvRecord } = await import('../../format/csv.ts');
  const named = rows.map(withoutDerived);
  const names = [...new Set([...headings, ...named.flatMap((row) => Object.keys(row))])];
  const shown = [...shownHeadings(headings, fileHeadings), ...shownHeadings(names.slice(headings.length))];
  const table = [
    new Set(shown).size === names.length ? shown : shownHeadings(names),
    ...named.map((row) => names.map((name) => String(row[name] ?? ''))),
  ];
  return table.map((cells) => csvRecord(cells, { delimiter: ',', ...style })).join('');
}

/** Removes the cells that errand derived from a row's reference. If the row has no reference, it stays unchanged. */
function withoutDerived(row: UploadRow): UploadRow {
  const { [`metadata.${referenceKey}`]: reference, idempotency_key: _, ...rest } = row;
  return reference === undefined ? row : rest;
}

/** Writes rows to a file, or to stdout for `-`. @throws UsageError, StorageError naming the path. */
export async function writtenRows(
  context: Context,
  rows: readonly UploadRow[],
  {
    to,
    force,
    layout,
    exitCode = 0,
  }: {
    readonly to: string;
    readonly force: boolean;
    readonly layout: TableLayout;
    readonly exitCode?: number | undefined;
  },
): Promise<StreamResult | NoResult> {
  const isOut = to === '-';
  const visible = isOut && context.io.stdout.isTerminal;
  const text = await csvOf(rows, layout, { raw: context.output.rawCsv === true, visible });
  if (isOut) return { kind: 'stream', chunks: [text], isCsv: true, exitCode: () => exitCode };
  await saveFile(to, [context.output.excel ? byteOrderMark + text : text], { force });
  return { kind: 'none', hints: [`wrote ${rowsText(rows.length)} to ${to}`], exitCode };
}
