import type { Context } from '../context.ts';
import { readAmount } from '../contract/amount.ts';
import { UsageError } from '../errors.ts';
import { formatMoney } from '../output/money.ts';
import type { TableLayout } from '../state/uploads.ts';
import { type Batch, type BatchRow, rowsOf } from './batch.ts';
import { isPriceHeading } from './columns.ts';
import { codeOfReason, countedReasons, readReasons, reasonOf } from './reasons.ts';
import { isFailed } from './row-state.ts';
import type { UploadRow } from './rows.ts';
import { rowsText } from './spend.ts';

/** Which failed rows are retried, and how. */
export const retriedOptions = {
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
} as const;

/** A row that is to be tried again. */
export interface FailedRow {
  readonly row: BatchRow;
  /** `max_price_exceeded: …`; empty where it is not asked for, or not known. */
  readonly reason: string;
}

/**
 * The rows of a batch that failed. @param wanted codes of reasons; of all without them.
 * @throws UsageError where rows failed, and none for these reasons.
 */
export async function failedRows(
  context: Context,
  batch: Batch,
  { wanted, withReasons }: { readonly wanted: readonly string[]; readonly withReasons: boolean },
): Promise<FailedRow[]> {
  const rows = rowsOf(batch).filter((row) => isFailed(row, batch));
  if (rows.length === 0 || (wanted.length === 0 && !withReasons))
    return rows.map((row) => ({ row, reason: '' }));
  const reasons = await readReasons(context, [batch]);
  const failed = rows.map((row) => ({ row, reason: reasonOf(row.record, reasons) }));
  if (wanted.length === 0) return failed;
  const found = failed.filter(({ reason }) => wanted.includes(codeOfReason(reason) ?? ''));
  if (found.length > 0) return found;
  throw new UsageError(
    `no row failed for ${wanted.join(' or ')}; ${rowsText(failed.length)} failed: ${countedReasons(failed.map(({ reason }) => reason))}`,
  );
}

/** By what ceilings are raised: hundredths of a percent, or cents. */
export type Raise = { readonly basisPoints: number } | { readonly cents: number };

const percent = /^(\d{1,3})(?:\.(\d{1,2}))?\s?%$/;
const mostPercent = 100;

/** Reads `10%`, `2.5%` or `$5`. @throws UsageError. */
export function parseRaise(text: string): Raise {
  const [, units, fraction = ''] = percent.exec(text.trim()) ?? [];
  if (units === undefined) return { cents: parseAmount(text) };
  const basisPoints = Number(units) * 100 + Number(fraction.padEnd(2, '0'));
  if (basisPoints > 0 && basisPoints <= mostPercent * 100) return { basisPoints };
  throw new UsageError(
    `--raise-ceiling ${text}: write more than 0% and at most ${mostPercent}%, or an amount`,
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

/** The row with its ceiling raised, never by more than was said: parts of a cent are dropped. */
export function raised(row: UploadRow, raise: Raise | undefined): UploadRow {
  const heading = Object.keys(row).find(isPriceHeading);
  if (raise === undefined || heading === undefined) return row;
  const cents = Number(row[heading]);
  const more = 'cents' in raise ? raise.cents : Math.floor((cents * raise.basisPoints) / 10_000);
  return { ...row, [heading]: String(cents + more) };
}

/** `3 rows: at most $48.40, before $44.00, without fees`. Cents. */
export const raisedLine = (rows: number, cents: number, before: number): string =>
  `${rowsText(rows)}: at most ${formatMoney(cents)}, before ${formatMoney(before)}, without fees`;

/** A row of a file to correct: with why it failed in a column of its own. */
export function withReason(row: UploadRow, reason: string): UploadRow {
  if (reason === '') return row;
  const heading = Object.hasOwn(row, 'reason') ? 'reason of the failure' : 'reason';
  return { ...row, [heading]: reason };
}

/** The rows of the new batch keep the numbers that they have in the file. */
export async function keepLayout(
  context: Context,
  key: string,
  { headings, numbers }: TableLayout,
  failed: readonly FailedRow[],
): Promise<void> {
  const kept = failed.map(({ row: { index } }) => numbers[index] ?? index + 1);
  await (await context.uploads()).keep(key, { headings, numbers: kept });
}
