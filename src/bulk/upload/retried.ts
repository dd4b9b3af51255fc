import { readAmount } from '../../api/amount.ts';
import { formatMoney } from '../../format/money.ts';
import type { NoResult, StreamResult } from '../../format/result.ts';
import { saveFile } from '../../format/save-file.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { referenceKey } from '../../orders/needs/reference.ts';
import { byteOrderMark } from '../../platform/csv-cell.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { rowsText } from '../check/row-sample.ts';
import { centsHeading } from '../csv/amounts.ts';
import { isPriceHeading } from '../csv/headings.ts';
import { laterAttempts } from '../needs/later-attempts.ts';
import type { UploadRow } from '../rows.ts';
import {
  type Batch,
  type BatchRow,
  earlierOrder,
  isCalledOff,
  isFailed,
  isMet,
  type LaterAttempt,
  rowsOf,
  withLater,
} from './batch.ts';
import { codeOfReason, countedReasons, readReasons, reasonOf } from './columns.ts';
import { withMetOrders } from './met-orders.ts';
import { type KnownUpload, knownUploads, type NamedBatches, readBatches, resumeStep } from './named.ts';
import type { UploadedRows } from './uploaded-rows.ts';

/** Options that select failed rows to retry. */
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
  again: { kind: 'flag', description: 'order again what was cancelled, too' },
} as const;

/** A failed row to retry. */
interface FailedRow {
  readonly batch: Batch;
  readonly row: BatchRow;
  /** Reason such as `max_price_exceeded: …`; empty if not requested or unknown. */
  readonly reason: string;
}

interface RetryFilter {
  /** Reason codes to retry. If empty, any failure counts. */
  readonly requested: readonly string[];
  readonly withReasons: boolean;
  /** Whether rows whose order was cancelled count. */
  readonly again: boolean;
}

/** The rows that failed, and the rows that did not although their batch says so. */
interface Failures {
  readonly failed: readonly FailedRow[];
  readonly later: readonly LaterAttempt[];
}

/**
 * The rows of batches whose needs have no live order.
 * @throws UsageError if rows failed, but none for these reasons; ErrandError if none can be retried from here.
 */
export async function failedRows(
  context: Context,
  named: Pick<NamedBatches, 'ids' | 'uploads' | 'counted'>,
  requested: RetryFilter,
): Promise<Failures> {
  const whole = await withMetOrders(context, await readBatches(context, named.ids));
  const batches = named.counted(withLater(whole, await laterAttempts(context, named, whole)));
  return {
    failed: await knownHere(context, await failedIn(context, batches, requested)),
    later: batches.flatMap((batch) => rowsOf(batch).flatMap(({ later }) => later ?? [])),
  };
}

async function failedIn(
  context: Context,
  batches: readonly Batch[],
  { requested, withReasons, again }: RetryFilter,
): Promise<FailedRow[]> {
  const all = batches.flatMap((batch) =>
    rowsOf(batch)
      .filter((row) => isFailed(row, batch))
      .map((row) => ({ batch, row, reason: '' })),
  );
  const rows = again ? all : all.filter(({ row }) => !isCalledOff(row));
  if (rows.length < all.length)
    context.note(
      `${rowsText(all.length - rows.length)} left out, since the order was cancelled; --again orders ${all.length - rows.length === 1 ? 'it' : 'them'} again`,
    );
  if (rows.length === 0 || (requested.length === 0 && !withReasons)) return rows;
  const reasons = await readReasons(context, batches);
  const failed = rows.map((failure) => ({ ...failure, reason: reasonOf(failure.row.record, reasons) }));
  if (requested.length === 0) return failed;
  const found = failed.filter(({ reason }) => requested.includes(codeOfReason(reason) ?? ''));
  if (found.length > 0) return found;
  throw new UsageError(
    `no row failed for ${requested.join(' or ')}; ${rowsText(failed.length)} failed: ${countedReasons(failed.map(({ reason }) => reason))}`,
  );
}

/** Maximum number of this machine's batches to search for existing orders, newest first. */
const maxBatches = 100;

/**
 * Leaves out rows whose failed order was made where this machine does not know it, with a note. @throws ErrandError if no row is left.
 */
async function knownHere(context: Context, failed: readonly FailedRow[]): Promise<readonly FailedRow[]> {
  const met = new Set(failed.flatMap(({ row, batch }) => earlierOrder(row, batch) ?? []));
  if (met.size === 0) return failed;
  const made = await madeHere(context, met);
  const known = failed.filter(({ row, batch }) => {
    const id = earlierOrder(row, batch);
    return id === undefined || made.has(id);
  });
  const unknown = failed.length - known.length;
  if (unknown === 0) return known;
  const what = `${rowsText(unknown)} failed as ${unknown === 1 ? 'an order' : 'orders'} of an upload that this machine does not know`;
  const hint = 'Retry that upload where it was made: a retry from here might order twice.';
  if (known.length === 0) throw new ErrandError('not_found', what, { outcome: 'not_sent', hint });
  context.note(`${what}, and left out here. ${hint}`);
  return known;
}

/** The orders that batches of this machine made. */
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

/** Failed rows as uploaded, and their layout in the file, as far as known. */
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
 * Refuses while a batch is in doubt, since it may hold the same rows. @param settling are the keys of the batches in doubt
 * that hold rows to retry. @param settled are those of them that the retry sends again unchanged. @throws ErrandError
 * in_doubt.
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

/** Increase of the ceilings: basis points, or cents. */
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

/** Raises a row's ceiling, rounding down so that it never exceeds the requested increase. */
export function raised(row: UploadRow, raise: Raise | undefined): UploadRow {
  const heading = Object.keys(row).find(isPriceHeading);
  if (raise === undefined || heading === undefined) return row;
  const cents = Number(row[heading]);
  const more = 'cents' in raise ? raise.cents : Math.floor((cents * raise.basisPoints) / 10_000);
  return { ...row, [heading]: String(cents + more) };
}

/** Formats `3 rows: at most $48.40, before $44.00, without fees`. Both amounts are given in cents. */
export const raisedLine = (rows: number, cents: number, before: number): string =>
  `${rowsText(rows)}: at most ${formatMoney(cents)}, before ${formatMoney(before)}, without fees`;

/** Adds the failure reason as a column, for a file that the user will correct. */
export function withReason(row: UploadRow, reason: string): UploadRow {
  if (reason === '') return row;
  const heading = Object.hasOwn(row, 'reason') ? 'reason of the failure' : 'reason';
  return { ...row, [heading]: reason };
}

/**
 * Formats rows as CSV with their file's columns, plus any other columns they have. The price heading says that it is in
 * cents. Cells that a spreadsheet would execute are escaped, and unescaped when read back.
 */
async function csvOf(
  rows: readonly UploadRow[],
  {
    headings,
    raw,
    visible,
  }: { readonly headings: readonly string[]; readonly raw: boolean; readonly visible: boolean },
): Promise<string> {
  const { csvRecord } = await import('../../format/csv.ts');
  const named = rows.map(withoutDerived);
  const names = [...new Set([...headings, ...named.flatMap((row) => Object.keys(row))])];
  const table = [
    names.map((name) => (isPriceHeading(name) ? centsHeading : name)),
    ...named.map((row) => names.map((name) => String(row[name] ?? ''))),
  ];
  return table.map((cells) => csvRecord(cells, { delimiter: ',', raw, visible })).join('');
}

/** A row with a reference as its file had it, without what follows from the reference. */
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
    headings,
  }: { readonly to: string; readonly force: boolean; readonly headings: readonly string[] },
): Promise<StreamResult | NoResult> {
  const isOut = to === '-';
  const visible = isOut && context.io.stdout.isTerminal;
  const text = await csvOf(rows, { headings, raw: context.output.rawCsv === true, visible });
  if (isOut) return { kind: 'stream', chunks: [text], isCsv: true };
  await saveFile(to, [context.output.excel ? byteOrderMark + text : text], { force });
  return { kind: 'none', hints: [`wrote ${rowsText(rows.length)} to ${to}`] };
}
