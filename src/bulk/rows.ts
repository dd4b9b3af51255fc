import type { AmountUnit } from '../api/amount.ts';
import type { ColumnPlan } from '../api/bulk-columns.ts';
import { type BulkIssue, type BulkRow, orderOfRow, readBulkRow } from '../api/bulk-row.ts';
import { setOwn } from '../api/json.ts';
import { bodyHash, sha256 } from '../format/canonical.ts';
import type { Reference } from '../journal/attempts.ts';
import { phoneProblem, stateProblem } from '../orders/addresses/options.ts';
import { attemptKey, metadataOf, referenceHeading, referenceOf } from '../orders/needs/reference.ts';
import { addRow } from './check/row-sample.ts';
import { centsHeading, currencyProblem, type Decimal, type OpenPrice, readPrice } from './csv/amounts.ts';
import { hiddenIn } from './csv/decode.ts';
import {
  emptyColumn,
  type HeadingMap,
  isKnownHeading,
  planTable,
  readHeadings,
  type TablePlan,
} from './csv/headings.ts';
import { breaksIn, delimiters, readTable, type TableOptions } from './csv/reader.ts';
import { readReference } from './csv/reference-columns.ts';
import {
  addressOfOrder,
  asTaken,
  calledOffIssues,
  isContinuation,
  noReadings,
  noteHidden,
  noteReferences,
  type Readings,
} from './csv/shop-export-quirks.ts';
import { spreadsheetErrors } from './csv/spreadsheet-errors.ts';
import { lostDigits } from './csv/spreadsheet-text.ts';

/** A parsed row of a file. */
export interface FileRow {
  /** Row number as a spreadsheet shows it. */
  readonly number: number;
  readonly plan: TablePlan;
  /** Cells as the service accepts them, with the price in cents. */
  readonly cells: readonly string[];
  /** Cells as the file writes them. A line that continues an order has that order's address. */
  readonly written: readonly string[];
  /** The price as in the file, if bare whole numbers may be dollars or cents. */
  readonly openPrice: OpenPrice | undefined;
  readonly row: BulkRow;
  /** The row's reference, as the file gives it, without the run; undefined if the file gives none or an invalid one. */
  readonly reference?: Reference | undefined;
  readonly issues: readonly BulkIssue[];
  /** Whether a stray quote may have swallowed the rows below. If so, skipping this row would skip those rows, too. */
  readonly mayHoldOthers: boolean;
  /** Precomputed key. It is needed if only part of the file is read, because a key depends on the rows above. */
  readonly key?: string;
}

export interface RowsOptions extends TableOptions, HeadingMap {
  /** Unit of bare whole numbers under `max_price`, if the user gives it. */
  readonly amounts?: AmountUnit | undefined;
  /** Decimal separator of prices; defaults to a point. */
  readonly decimal?: Decimal | undefined;
  /** Collects cells whose text is interpreted instead of taken literally. */
  readonly readings?: Readings | undefined;
  /** Called with each row that orders nothing, because it continues another row or contains sums. */
  readonly onContinuation?: ((row: Pick<FileRow, 'number' | 'plan' | 'cells'>) => void) | undefined;
}

/**
 * Streams the non-blank rows of a file, in chunks as they arrive. @throws UsageError for a problem with the file as a
 * whole.
 */
export async function* readRows(
  chunks: AsyncIterable<Uint8Array>,
  options: RowsOptions,
): AsyncGenerator<FileRow[]> {
  let plan: TablePlan | undefined;
  let rivals: RivalCells | undefined;
  const { readings = noReadings() } = options;
  const withAddress = addressOfOrder(readings);
  const isHeading = (text: string): boolean => isKnownHeading(text, options);
  for await (const part of readTable(chunks, { ...options, isHeading })) {
    const { headings, firstRow, rows, breaks } = part;
    let line = part.firstLine;
    if (!plan) {
      plan = planTable(options.name, readHeadings(headings, options), options, headings);
      rivals = new RivalCells(options.name, plan);
      if (!options.isAsBefore) noteHidden(readings, headings);
      readings.references.unused = plan.unusedReference;
    }
    const money = { unit: plan.isInCents ? ('cents' as const) : options.amounts, decimal: options.decimal };
    const read: FileRow[] = [];
    for (let index = 0; index < rows.length; index += 1) {
      const cells = rows[index] ?? [];
      const lines = { first: line, last: line + (breaks.get(index) ?? 0) };
      line = lines.last + 1;
      if (cells.every((cell) => cell === '')) continue;
      const number = firstRow + index;
      if (isContinuation(plan, cells)) {
        addRow(readings.continuations, number);
        options.onContinuation?.({ number, plan, cells });
      } else {
        const whole = withAddress(plan, cells, number);
        rivals?.note(whole);
        const beyond = cells.length > plan.width ? cells.slice(plan.width) : nothing;
        const taken = asTaken(plan, whole, readings);
        const row = readRow(plan, money, number, { taken, written: whole, beyond });
        if (row.reference) noteReferences(readings, plan, row.reference, number);
        read.push(lines.first === lines.last ? row : withLines(row, lines));
      }
    }
    if (read.length > 0) yield read;
  }
  rivals?.check();
}

const nothing: readonly string[] = [];

/** Detects a column that is empty throughout while a similar heading has data. */
class RivalCells {
  readonly #name: string;
  readonly #plan: TablePlan;
  /** Indexes of the columns in which no data has been found yet. */
  readonly #empty: Set<number>;

  constructor(name: string, plan: TablePlan) {
    this.#name = name;
    this.#plan = plan;
    this.#empty = new Set(plan.rivals.flatMap(({ columnIndex, index }) => [columnIndex, index]));
  }

  note(cells: readonly string[]): void {
    for (const index of this.#empty) if ((cells[index] ?? '').trim() !== '') this.#empty.delete(index);
  }

  /** Checks that no such column has lost its data. @throws UsageError naming both headings. */
  check(): void {
    const lost = this.#plan.rivals.filter(
      ({ columnIndex, index }) => this.#empty.has(columnIndex) && !this.#empty.has(index),
    );
    if (lost.length > 0) throw emptyColumn(this.#name, this.#plan, lost);
  }
}

interface CellsOfRow {
  readonly taken: readonly string[];
  readonly written: readonly string[];
  /** Cells beyond the last heading. */
  readonly beyond: readonly string[];
}

function readRow(
  plan: TablePlan,
  { unit, decimal }: { readonly unit: AmountUnit | undefined; readonly decimal: Decimal | undefined },
  number: number,
  { taken: given, written, beyond }: CellsOfRow,
): FileRow {
  const text = given[plan.priceIndex] ?? '';
  const read = text.trim() === '' ? undefined : readPrice(text, unit, decimal);
  const isPriced = read !== undefined && read.problem === undefined;
  const cents = isPriced ? String(read.cents) : text;
  const cells = cents === text ? given : given.with(plan.priceIndex, cents);
  const row = readBulkRow(plan, cells);
  const column = plan.isInCents ? centsHeading : 'max_price';
  const problem = read?.problem;
  // The service's rules assume cents, so replace its issues with a single issue in our wording.
  const issues =
    problem === undefined
      ? [...row.issues]
      : row.issues.map((issue) =>
          issue.column === 'max_price' ? { column, value: text.trim(), message: problem } : issue,
        );
  addUnusable(issues, row);
  if (plan.calledOff.length > 0) issues.push(...calledOffIssues(plan, cells));
  if (plan.currencyIndexes.length > 0) issues.push(...currencies(plan, cells));
  if (beyond.length > 0) issues.push(...surplus(plan.width, beyond));
  if (plan.unheadedIndex >= 0) issues.push(...unheaded(plan, cells));
  const named = plan.reference && readReference(plan.reference, cells);
  if (named && 'issue' in named) issues.push(named.issue);
  if (named) issues.push(...keyWithReference(row));
  const damaged = spreadsheetErrors(plan, cells);
  damaged.push(...foreignCity(row));
  const found = explained(issues, row, damaged);
  const openPrice = isPriced && unit === undefined ? { text: text.trim(), ...read } : undefined;
  const reference = named && 'reference' in named ? named.reference : undefined;
  const shown = found.length === 0 ? found : found.map(shownIssue);
  return { number, plan, cells, written, row, openPrice, mayHoldOthers: false, reference, issues: shown };
}

/** Maximum number of line breaks in an address cell. */
const maxBreaks = 2;
/** A URL and further cells, as they occur in a swallowed row. */
const rowText = /https?:\/\/[^\s,;\t|]{1,500}?"?([,;\t|])(?:[^\r\n]*?\1){2}/i;

/** Reports an issue on a row with several lines, if one of its quotes seems to have swallowed the rows below. */
function withLines(
  row: FileRow,
  { first, last }: { readonly first: number; readonly last: number },
): FileRow {
  const at = row.cells.findIndex((_, index) => mayHoldRows(row, index));
  if (at < 0) return row;
  const [value = ''] = (row.cells[at] ?? '').split(/[\r\n]/, 1);
  const issue: BulkIssue = {
    column: row.plan.fileHeadings[at] ?? `column ${at + 1}`,
    value: value.slice(0, 200),
    message: `opens a quote that ends lines below, so that the row spans lines ${first} to ${last}; where the quote is stray, take it out`,
  };
  return { ...row, issues: [issue, ...row.issues], mayHoldOthers: true };
}

/**
 * Whether the line breaks of a cell suggest that it has swallowed rows. Gift messages and custom columns may have many
 * line breaks.
 */
function mayHoldRows({ cells, plan, issues }: FileRow, index: number): boolean {
  const cell = cells[index] ?? '';
  const breaks = breaksIn([cell]);
  if (breaks === 0) return false;
  const isField = [...plan.columns].some(([column, at]) => at === index && !manyLines.includes(column));
  if (isField && (breaks > maxBreaks || issues.length > 0)) return true;
  if (rowText.test(cell)) return isField || issues.length > 0 || cellsIn(cell) >= plan.headings.length;
  return cells.length > plan.headings.length && issues.length > 0;
}

/**
 * Columns whose cells may have many line breaks. If a cell lists several products, the check of `product_url` refuses
 * line breaks.
 */
const manyLines: readonly string[] = ['gift_message', 'product_url'];

/** Number of cells in a text, if its most frequent delimiter separates them. */
const cellsIn = (text: string): number =>
  Math.max(...delimiters.map((delimiter) => text.split(delimiter).length));

/**
 * If a spreadsheet damaged a cell, replaces the cell's issues with a single issue that explains the damage. @param
 * damaged holds the issues about damage that are known already.
 */
function explained(
  issues: readonly BulkIssue[],
  { cell }: BulkRow,
  damaged: BulkIssue[],
): readonly BulkIssue[] {
  const country = (): string => cell('country') || 'US';
  for (const column of damageable) {
    const value = cell(column);
    const message = explainArtifact(column, value, country);
    if (message !== undefined) damaged.push({ column, value, message });
  }
  if (damaged.length === 0) return issues;
  return [...issues.filter((issue) => !damaged.some(({ column }) => column === issue.column)), ...damaged];
}

/** Large foreign cities to which the service delivers. An address in a US city of the same name would give a state. */
const foreignCities: ReadonlySet<string> = new Set(
  (
    'berlin hamburg munchen munich koln cologne frankfurt stuttgart dusseldorf leipzig dortmund essen bremen dresden ' +
    'hannover nurnberg wien vienna graz linz salzburg zurich genf geneve basel bern milano milan roma rome torino turin ' +
    'napoli naples firenze bologna genova venezia palermo paris lyon marseille toulouse nice lille bordeaux strasbourg ' +
    'london manchester birmingham liverpool leeds glasgow edinburgh madrid barcelona valencia sevilla lisboa porto ' +
    'amsterdam rotterdam utrecht bruxelles brussels antwerpen toronto montreal vancouver calgary ottawa'
  ).split(' '),
);

/**
 * Issue for an address in a large foreign city that gives neither country nor state. For such an address, the US must
 * not be assumed.
 */
function foreignCity({ cell }: BulkRow): BulkIssue[] {
  if (cell('country') !== '' || cell('state') !== '') return [];
  const city = cell('city');
  const name = city.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
  if (!foreignCities.has(name)) return [];
  const message = `is missing, and ${city} without a state is not taken for a city of the US; give the country, or the state`;
  return [{ column: 'country', value: '', message }];
}

const damageable = ['quantity', 'postal_code', 'phone_number'] as const;

/** If the cell contains an invisible character, adds it to the message, because it may be why the cell was refused. */
function shownIssue(issue: BulkIssue): BulkIssue {
  const shown = valueOnce(issue);
  const hidden = hiddenIn(issue.value);
  return hidden === undefined ? shown : { ...shown, message: `${shown.message}; the cell holds ${hidden}` };
}

/** Strips the value from the start of a message, because the value is displayed in front of the message anyway. */
export function valueOnce(issue: BulkIssue): BulkIssue {
  const { value, message } = issue;
  if (value === '') return issue;
  const { length } = value;
  if (message.startsWith('"') && message.startsWith(value, 1) && message.startsWith('" ', length + 1))
    return { ...issue, message: message.slice(length + 3) };
  return message.startsWith(value) && message.startsWith(' ', length)
    ? { ...issue, message: message.slice(length + 1) }
    : issue;
}

/**
 * Adds issues for addresses that the service accepts but to which no carrier can deliver. The same rules apply to
 * orders and to saved addresses.
 */
function addUnusable(issues: BulkIssue[], { cell }: BulkRow): void {
  const [state, phone] = [cell('state'), cell('phone_number')];
  const ofState = state === '' ? undefined : stateProblem(state, cell('country') || 'US');
  if (ofState !== undefined) issues.push({ column: 'state', value: state, message: ofState });
  const ofPhone = phone === '' ? undefined : phoneProblem(phone);
  if (ofPhone !== undefined) issues.push({ column: 'phone_number', value: phone, message: ofPhone });
}

/** A row's key follows from its reference, so the file must not give both. */
function keyWithReference({ cell }: BulkRow): BulkIssue[] {
  const value = cell('idempotency_key');
  const message = 'stands beside a reference, from which the key follows; take the column out';
  return value === '' ? [] : [{ column: 'idempotency_key', value, message }];
}

const currencies = ({ headings, currencyIndexes }: TablePlan, cells: readonly string[]): BulkIssue[] =>
  currencyIndexes.flatMap((index) => {
    const value = cells[index] ?? '';
    const message = currencyProblem(value);
    return message === undefined ? [] : { column: headings[index] ?? '', value, message };
  });

function surplus(width: number, beyond: readonly string[]): BulkIssue[] {
  const at = beyond.findIndex((cell) => cell !== '');
  if (at < 0) return [];
  const message = `stands beyond the last heading; is a cell with the delimiter in it not quoted?`;
  return [{ column: `column ${width + at + 1}`, value: beyond[at] ?? '', message }];
}

function unheaded({ unheadedIndex }: TablePlan, cells: readonly string[]): BulkIssue[] {
  const value = cells[unheadedIndex] ?? '';
  if (value.trim() === '') return [];
  const message = 'stands under an empty heading; write a heading above it, or take the column out';
  return [{ column: `column ${unheadedIndex + 1}`, value, message }];
}

/** Non-empty cells by heading, as the service accepts them. */
export type UploadRow = Readonly<Record<string, string>>;

/** The parts of a row that determine its key. */
type KeyedRow = Pick<FileRow, 'cells' | 'row' | 'key' | 'reference'> & { readonly plan: ColumnPlan };

/**
 * Gives each row the idempotency key of its order. The key is derived from the row's reference. Without a reference, it
 * is derived from the order's content and the number of equal rows above. So resending the file places nothing twice,
 * even if rows were reordered or added.
 */
export class RowKeys {
  readonly #run: string;
  readonly #onKey: (key: string) => void;
  readonly #seen = new Map<string, number>();

  /**
   * @param run distinguishes uploads of equal rows that are separate orders on purpose. @param onKey is called with
   * each key.
   */
  constructor(run: string, onKey: (key: string) => void = () => {}) {
    this.#run = run;
    this.#onKey = onKey;
  }

  /** The row as it is uploaded, including its key. */
  keyed(row: KeyedRow): UploadRow {
    const { plan, cells } = row;
    const named: Record<string, string> = {};
    for (let index = 0; index < plan.headings.length; index += 1) {
      const cell = cells[index] ?? '';
      if (cell !== '') setOwn(named, plan.headings[index] ?? '', cell);
    }
    const key = this.key(row);
    const reference = this.#reference(row);
    if (reference) named[referenceHeading] = metadataOf(reference);
    if (row.row.cell('idempotency_key') === '') named.idempotency_key = key;
    return named;
  }

  /** Key of a row: the key that the file gives, or else a derived key. Call once per row, in order. */
  key(row: KeyedRow): string {
    const found = row.row.cell('idempotency_key') || (row.key ?? this.#made(row));
    this.#onKey(found);
    return found;
  }

  #made(row: KeyedRow): string {
    const reference = this.#reference(row);
    return reference ? attemptKey(reference, 1) : this.#keyOf(orderOfRow(row.plan, row.cells, row.row));
  }

  #reference = ({ reference }: KeyedRow): Reference | undefined =>
    reference && this.#run !== '' ? referenceOf(reference.text, reference.namespace, this.#run) : reference;

  #keyOf(order: Readonly<Record<string, unknown>>): string {
    const hash = bodyHash(order);
    const before = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, before + 1);
    return stableKey([this.#run, hash, before]);
  }
}

/** Idempotency key of a batch, derived from its rows, so that equal rows make the same batch. */
export const keyOfRows = (rows: readonly UploadRow[]): string =>
  stableKey(rows.map((row) => JSON.stringify(row)));

/** A 36-character key. The same parts always give the same key. */
export function stableKey(parts: readonly (string | number)[]): string {
  const hex = sha256(JSON.stringify(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Countries with five-digit postal codes. There, a code of four digits has lost a leading zero. */
const fiveDigits = new Set(['DE', 'ES', 'FI', 'FR', 'HR', 'IT', 'MX', 'TR', 'US']);

const withDecimal = /^(\d{1,15})[.,]0{1,2}$/;

/**
 * Explains how a spreadsheet damaged a cell by treating it as a number, and how to fix the cell; undefined if the cell
 * looks intact. The explanation is phrased to follow the cell's text.
 */
function explainArtifact(
  column: 'phone_number' | 'postal_code' | 'quantity',
  text: string,
  country: () => string,
): string | undefined {
  const isPostal = column === 'postal_code' && (text.length === 4 || text.length === 9);
  if (!isPostal && !/[.,e]/i.test(text)) return undefined;
  const lost = lostDigits(text);
  if (lost !== undefined) return lost;
  const [, whole] = withDecimal.exec(text) ?? [];
  if (whole !== undefined)
    return `is a number with decimals, as a spreadsheet writes it; write ${whole}, in a column formatted as text`;
  if (!isPostal) return undefined;
  const code = country().toUpperCase();
  if (!fiveDigits.has(code)) return undefined;
  if (/^\d{4}$/.test(text))
    return `has lost the zero at its beginning in a spreadsheet; write 0${text}, in a column formatted as text`;
  if (code === 'US' && /^\d{9}$/.test(text))
    return `is without its dash; write ${text.slice(0, 5)}-${text.slice(5)}`;
  return undefined;
}
