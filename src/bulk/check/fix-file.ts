import { existsSync } from 'node:fs';
import { namedCountry } from '../../api/country.ts';
import { countryCodePattern } from '../../api/limits.ts';
import type { Output } from '../../api/outputs/index.ts';
import { statesOfZip } from '../../api/us-zip.ts';
import { repairedText } from '../../format/damaged-text.ts';
import { saveFile } from '../../format/save-file.ts';
import { byteOrderMark, escapeFormula, unescapeFormula } from '../../platform/csv-cell.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readPrice } from '../csv/amounts.ts';
import { asUtf8, hasMark, visible } from '../csv/decode.ts';
import { isKnownHeading, planTable, readHeadings, type TablePlan } from '../csv/headings.ts';
import { breaksIn, readTable } from '../csv/reader.ts';
import type { RowsOptions } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { printedColumns } from './parcel-text.ts';

/** A cell that was corrected. */
export type FixedCell = Output<'BulkFix'>;

/**
 * Checks the path for the corrected file. @throws UsageError if any file, including the original, already has that
 * path.
 */
export function checkFixTarget(path: string, source: string): void {
  if (path === '-') throw new UsageError('--fix names a file; what was corrected is printed');
  if (path === source || existsSync(path))
    throw new UsageError(`--fix ${path}: that file is there already, and is not written over; name another`);
}

/**
 * Writes a corrected copy of a file. Corrects only what is certain, and leaves other cells as they are written. A
 * formula becomes text, which counts as a correction. Row numbers, the delimiter and the lines above the headings stay
 * the same. The copy is UTF-8. It has a byte order mark on request, or if the original has a byte order mark or another
 * encoding. @returns what was corrected, in the order of the file. If there is nothing to correct, no file is written.
 * @throws UsageError for a problem with the file as a whole; StorageError naming the path.
 */
export async function fixFile(
  context: Context,
  source: Source,
  options: RowsOptions,
  path: string,
): Promise<FixedCell[]> {
  const fixed: FixedCell[] = [];
  for await (const _ of fixedLines(source, options, (cell) => fixed.push(cell)))
    context.signal.throwIfAborted();
  if (fixed.length === 0) return fixed;
  await saveFile(path, corrected(context, source, options), { force: false });
  return fixed;
}

async function* corrected(
  { output: { excel = false } }: Context,
  source: Source,
  options: RowsOptions,
): AsyncGenerator<string> {
  const { encoding = 'utf-8' } = options;
  // Someone may read the copy with a saved map that names the original's encoding. The byte order mark overrides that
  // encoding.
  if (excel || encoding !== 'utf-8' || (await hasMark(source.chunks()))) yield byteOrderMark;
  yield* fixedLines(source, options, () => {});
}

async function* fixedLines(
  source: Source,
  options: RowsOptions,
  report: (cell: FixedCell) => void,
): AsyncGenerator<string> {
  const { csvRecords } = await import('../../format/csv.ts');
  const { quotes } = options;
  const isHeading = (text: string): boolean => isKnownHeading(text, options);
  let plan: TablePlan | undefined;
  for await (const part of readTable(source.chunks(), { ...options, isHeading, keepsMarks: true })) {
    const { headings, firstRow, firstLine, rows, delimiter } = part;
    const written = (records: readonly (readonly string[])[]): string =>
      quotes === 'none'
        ? records.map((cells) => `${cells.join(delimiter)}\n`).join('')
        : csvRecords(records, { delimiter, raw: true, visible: false });
    if (!plan) {
      const plain = headings.map(unescapeFormula);
      plan = planTable(options.name, readHeadings(plain, options), options, plain);
      yield* linesAbove(source, options, firstLine - 2 - breaksIn(headings));
      for (const was of headings)
        if (visible(was) !== was)
          report({ row: firstRow - 1, column: visible(was), was, is: visible(was), why: hiddenCharacter });
      yield written([headings.map((heading) => visible(heading))]);
    }
    const fixed: (readonly string[])[] = [];
    for (const [index, cells] of rows.entries())
      fixed.push(fixedRow(plan, cells, firstRow + index, options, report));
    yield written(fixed);
  }
}

/** Yields the lines above the headings unchanged. */
async function* linesAbove(source: Source, options: RowsOptions, count: number): AsyncGenerator<string> {
  if (count <= 0) return;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of asUtf8(source.chunks(), options.name, options.encoding)) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split(/\r\n?|\n/);
    if (lines.length <= count) continue;
    yield lines
      .slice(0, count)
      .map((line) => `${line}\n`)
      .join('');
    return;
  }
}

function fixedRow(
  plan: TablePlan,
  stored: readonly string[],
  row: number,
  options: RowsOptions,
  report: (cell: FixedCell) => void,
): readonly string[] {
  const cells = stored.map(unescapeFormula);
  let fixed = stored;
  for (const [column, index] of columnsOf(plan)) {
    const was = cells[index] ?? '';
    if (was === '') continue;
    const found = fixOf(column, was, { plan, cells, options });
    if (!found || found.is === was) continue;
    report({ row, column: plan.fileHeadings[index] ?? column, was, is: found.is, why: found.why });
    const isMarked = stored[index] !== was;
    fixed = fixed.with(index, isMarked ? escapeFormula(found.is) : found.is);
  }
  return withoutFormulas(plan, fixed, row, report);
}

/**
 * Cells that begin like a formula, but that a spreadsheet does not execute: a number, a phone number, or digits marked
 * as text (`="02134"`).
 */
const harmless = /^[+-][\d .,()/-]*$|^="\d[^"]*"$/;

function withoutFormulas(
  { fileHeadings }: TablePlan,
  cells: readonly string[],
  row: number,
  report: (cell: FixedCell) => void,
): readonly string[] {
  let safe = cells;
  for (const [index, was] of cells.entries()) {
    const is = harmless.test(was) ? was : escapeFormula(was);
    if (is === was) continue;
    report({ row, column: fileHeadings[index] ?? '', was, is, why: 'a formula, written as text' });
    safe = safe.with(index, is);
  }
  return safe;
}

/** The columns that may be corrected. Columns that identify a product or a row stay unchanged. */
const columnsOf = ({ columns, metadata }: TablePlan): readonly (readonly [string, number])[] => [
  ...[...columns].filter(([column]) => column !== 'product_url' && column !== 'idempotency_key'),
  ...metadata.map(({ key, index }) => [`metadata.${key}`, index] as const),
];

interface OfRow {
  readonly plan: TablePlan;
  readonly cells: readonly string[];
  readonly options: RowsOptions;
}

interface Fix {
  readonly is: string;
  readonly why: string;
}

const texts: ReadonlySet<string> = new Set(printedColumns);

/** Special spaces, and runs of several spaces. */
const oddSpaces = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\t]+| {2,}/g;

/** The corrected cell; undefined if nothing about it is certain. */
function fixOf(column: string, was: string, of: OfRow): Fix | undefined {
  const spaced = visible(was).replace(oddSpaces, ' ').trim();
  const isReference = of.plan.reference?.indexes.some((index) => of.cells[index] === was) === true;
  if (isReference) return undefined;
  const isText = texts.has(column) || column.startsWith('metadata.');
  const repaired = isText ? repairedText(spaced) : spaced;
  if (isText && repaired !== spaced)
    return { is: repaired, why: 'was written with HTML entities, or read in the wrong encoding' };
  const special = fixes[column]?.(spaced, of);
  if (special) return special;
  return spaced === was ? undefined : { is: spaced, why: 'spaces' };
}

const hiddenCharacter = 'a character that nobody sees';
const asNumber = 'a spreadsheet wrote it as a number';
const withDecimal = /^(\d{1,15})[.,]0{1,2}$/;

const withoutDecimal = (text: string): Fix | undefined => {
  const [, is] = withDecimal.exec(text) ?? [];
  return is === undefined ? undefined : { is, why: asNumber };
};

const fixes: Readonly<Record<string, (text: string, of: OfRow) => Fix | undefined>> = {
  quantity: withoutDecimal,
  phone_number: withoutDecimal,
  country(text) {
    const code = namedCountry(text);
    return code === undefined ? undefined : { is: code, why: 'the country by its code' };
  },
  postal_code(text, of) {
    const whole = withoutDecimal(text);
    const zip = fixedZip(whole?.is ?? text, of);
    return zip === undefined ? whole : { is: zip, why: asNumber };
  },
  max_price(text, { plan, options: { amounts, decimal } }) {
    // Rewrite an amount only if the user has said how to read it.
    const unit = plan.isInCents ? undefined : amounts;
    const isBare = /^\d+$/.test(text);
    if (plan.isInCents || (isBare ? unit === undefined : decimal === undefined)) return undefined;
    const read = readPrice(text, unit, decimal);
    if (read.problem !== undefined || read.isBare) return undefined;
    const is = `$${(read.cents / 100).toFixed(2)}`;
    return isBare || decimal === ',' ? { is, why: isBare ? `--amounts ${unit}` : '--locale' } : undefined;
  },
};

/**
 * Restores the dash or the leading zeros that a spreadsheet removed from a US ZIP code. Restores zeros only if the
 * state matches. Returns undefined if nothing is certain.
 */
function fixedZip(text: string, { plan, cells }: OfRow): string | undefined {
  const cell = (column: 'country' | 'state'): string => cells[plan.columns.get(column) ?? -1]?.trim() ?? '';
  const country = cell('country');
  const code = countryCodePattern.test(country) ? country.toUpperCase() : (namedCountry(country) ?? country);
  if (code !== 'US' && code !== '') return undefined;
  if (/^\d{9}$/.test(text)) return `${text.slice(0, 5)}-${text.slice(5)}`;
  if (!/^\d{3,4}$/.test(text)) return undefined;
  const zip = text.padStart(5, '0');
  return statesOfZip(zip).includes(cell('state').toUpperCase()) ? zip : undefined;
}
