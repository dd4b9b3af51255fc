import { type BulkColumn, bulkListSeparator, type ColumnPlan, planColumns } from './bulk-columns.ts';
import type { ErrorCode } from './error-codes.ts';
import { characterCount, countryCodePattern, limits, usPostalCodePattern, uuidPattern } from './limits.ts';
import { hasBulkColumn, type PlainInput, type PlainOrderField, unmetRequirements } from './order-fields.ts';
import { productUrlProblem, urlsWithin } from './product-url.ts';
import type { ShapeInput } from './schemas/index.ts';

/** A problem with a cell, which may be missing. */
export interface BulkIssue {
  readonly column: string;
  /** Raw cell text; empty if missing. */
  readonly value: string;
  /** What is wrong with the cell or how to fix it, phrased to follow the column's name. */
  readonly message: string;
}

/** A parsed row of a bulk upload (specification, shapes: Bulk). A part that cannot be parsed is empty or null. */
export interface BulkRow {
  readonly issues: readonly BulkIssue[];
  readonly productUrls: readonly string[];
  readonly quantities: readonly number[];
  readonly firstName: string;
  readonly lastName: string;
  /** The ceiling in cents. */
  readonly maxPrice: number | null;
  /** Plain order fields whose cells have a value. */
  readonly plain: PlainInput;
  /** Cell text by column; empty if missing. */
  cell(column: BulkColumn): string;
}

const integer = /^\d{1,15}$/;
const decimal = /^[$€£]?\s*(\d{1,12})[.,](\d{1,2})$/;
const yes = new Set(['true', 'yes', 'y', '1', 'x']);
const no = new Set(['', 'false', 'no', 'n', '0']);
const required = ['address_line1', 'city', 'postal_code', 'phone_number'] as const;

/** Parses and validates one row. Collects every issue instead of stopping at the first. */
export function readBulkRow(plan: ColumnPlan, cells: readonly string[]): BulkRow {
  const cell = (column: BulkColumn): string => {
    const index = plan.columns.get(column);
    return index === undefined ? '' : trimmed(cells[index] ?? '');
  };
  const issues: BulkIssue[] = [];
  const refuse = (column: BulkColumn, message: string): void => {
    issues.push({ column, value: cell(column), message });
  };
  for (const { column, headings } of plan.doubled) {
    const message = `stands under two headings, "${headings[0]}" and "${headings[1]}"; keep one`;
    issues.push({ column, value: headings[1], message });
  }
  const productUrls = readUrls(cell('product_url'), refuse);
  const quantities = readQuantities(cell('quantity'), productUrls.length, refuse);
  const maxPrice = readMaxPrice(cell('max_price'), refuse);
  const [firstName, lastName] = readName(cell, refuse);
  for (const column of required) if (cell(column) === '') refuse(column, 'is missing');
  checkCountry(cell, refuse);
  const plain = readPlain(plan, cell, refuse);
  checkLength('idempotency_key', limits.idempotencyKeyLength.max, cell, refuse);
  return { issues, productUrls, quantities, firstName, lastName, maxPrice, plain, cell };
}

/** Trims a text. Each row of a file asks for two dozen, of which nearly all begin and end with a visible ASCII character. */
const trimmed = (text: string): string =>
  isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(text.length - 1)) ? text : text.trim();

const isVisible = (code: number): boolean => code > 0x20 && code < 0x7f;

type Refuse = (column: BulkColumn, message: string) => void;
type Cell = BulkRow['cell'];

/** The last valid URL is cached because consecutive rows often order the same product. */
let lastUrl = '';

function urlProblem(url: string): string | undefined {
  if (url === lastUrl) return undefined;
  const problem = productUrlProblem(url);
  if (problem === undefined) lastUrl = url;
  return problem;
}

function readUrls(text: string, refuse: Refuse): string[] {
  if (text === '') {
    refuse('product_url', 'is missing');
    return [];
  }
  const urls = text.includes(bulkListSeparator)
    ? text.split(bulkListSeparator).map((url) => url.trim())
    : [text];
  for (const url of urls) {
    const problem = urlProblem(url);
    if (problem === undefined) continue;
    const instead = urlsWithin(url).length > 1 ? `; separate products by ${bulkListSeparator}` : '';
    refuse('product_url', `"${url}" ${problem}${instead}`);
    break;
  }
  return urls;
}

function readQuantities(text: string, products: number, refuse: Refuse): number[] {
  if (text === '') return Array.from({ length: products }, () => 1);
  if (text === '1' && products === 1) return [1];
  const given = text.split(bulkListSeparator).map((part) => part.trim());
  const quantities = given.map(Number);
  if (given.some((part) => !integer.test(part) || Number(part) < limits.quantity.min)) {
    refuse('quantity', `is not a whole number from ${limits.quantity.min}`);
    return [];
  }
  if (quantities.length > 1 && quantities.length !== products)
    refuse(
      'quantity',
      `has ${quantities.length} quantities for ${products} products; give one for each, or one`,
    );
  return quantities.length === 1 ? Array.from({ length: products }, () => quantities[0] ?? 1) : quantities;
}

function readMaxPrice(text: string, refuse: Refuse): number | null {
  if (integer.test(text)) return Number(text);
  const [, units, part = ''] = decimal.exec(text) ?? [];
  if (text === '') refuse('max_price', 'is missing');
  else if (units !== undefined)
    refuse(
      'max_price',
      `is in cents and takes no decimal point; write ${Number(units) * 100 + Number(part.padEnd(2, '0'))} for ${units}.${part.padEnd(2, '0')}`,
    );
  else refuse('max_price', 'is not a whole number of cents');
  return null;
}

function readName(cell: Cell, refuse: Refuse): readonly [first: string, last: string] {
  const [first, last, whole] = [cell('first_name'), cell('last_name'), cell('name')];
  if (first !== '' && last !== '') return [first, last];
  if (whole === '') {
    if (first === '' && last === '') refuse('name', 'is missing; or give first_name and last_name');
    else refuse(first === '' ? 'first_name' : 'last_name', 'is missing');
    return [first, last];
  }
  const end = whole.lastIndexOf(' ');
  if (end < 0) refuse('name', 'needs a first and a last name');
  return [whole.slice(0, Math.max(0, end)).trim(), whole.slice(end + 1)];
}

const countryOf = (cell: Cell): string => cell('country') || 'US';

function checkCountry(cell: Cell, refuse: Refuse): void {
  const country = countryOf(cell);
  if (!countryCodePattern.test(country)) refuse('country', 'is not a two-letter ISO 3166-1 code such as US');
  const postalCode = cell('postal_code');
  if (country.toUpperCase() === 'US' && postalCode !== '' && !usPostalCodePattern.test(postalCode))
    refuse('postal_code', 'is not a US postal code: 5 digits, optionally a dash and 4 more');
}

function readPlain(plan: ColumnPlan, cell: Cell, refuse: Refuse): PlainInput {
  if (plan.plain.length === 0) return {};
  const values: Record<string, string | number | true> = {};
  for (const [column, field] of plan.plain) {
    const value = plainValue(column, field, cell, refuse);
    if (value !== undefined) values[column] = value;
  }
  // The cast is safe because each value matches the type of its field.
  const plain = values as PlainInput;
  for (const { name, problem } of unmetRequirements(plain)) if (hasBulkColumn(name)) refuse(name, problem);
  return plain;
}

/**
 * Parses the cell of a plain field. Returns undefined if the cell is empty or false. Reports an invalid value by
 * calling `refuse`.
 */
function plainValue(
  column: BulkColumn,
  { type, min = 0, maxLength }: PlainOrderField,
  cell: Cell,
  refuse: Refuse,
): string | number | true | undefined {
  const text = cell(column);
  if (type === 'boolean') {
    const word = text.toLowerCase();
    if (!yes.has(word) && !no.has(word)) refuse(column, 'is neither true nor false');
    return yes.has(word) || undefined;
  }
  if (text === '') return undefined;
  if (type === 'integer') {
    if (!integer.test(text) || Number(text) < min) refuse(column, `is not a whole number from ${min}`);
    return Number(text);
  }
  if (maxLength !== undefined) checkLength(column, maxLength, cell, refuse);
  return text;
}

function checkLength(column: BulkColumn, max: number, cell: Cell, refuse: Refuse): void {
  const text = cell(column);
  // Compare the UTF-16 length first. It is cheap, and never below the number of characters.
  if (text.length > max && characterCount(text) > max) refuse(column, `has more than ${max} characters`);
}

/** Builds the order for a row without issues. */
export function orderOfRow(
  plan: ColumnPlan,
  cells: readonly string[],
  row: BulkRow,
): ShapeInput<'OrderCreate'> {
  const { cell } = row;
  const given = (column: BulkColumn): string | null => cell(column) || null;
  const metadata = plan.metadata
    .map(({ key, index }): [string, string] => [key, cells[index] ?? ''])
    .filter(([, value]) => value !== '');
  return {
    products: row.productUrls.map((url, index) => ({ url, quantity: row.quantities[index] ?? 1 })),
    shipping_address: {
      first_name: row.firstName,
      last_name: row.lastName,
      address_line1: cell('address_line1'),
      ...(given('address_line2') && { address_line2: cell('address_line2') }),
      city: cell('city'),
      ...(given('state') && { state: cell('state') }),
      postal_code: cell('postal_code'),
      country: countryOf(cell).toUpperCase(),
      phone_number: cell('phone_number'),
    },
    max_price: row.maxPrice ?? 0,
    ...(given('idempotency_key') && { idempotency_key: cell('idempotency_key') }),
    ...row.plain,
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
  };
}

/** Recipient and destination of a row's order, for display. */
export const recipientOf = ({ firstName, lastName }: BulkRow): string => `${firstName} ${lastName}`.trim();
export function destinationOf({ cell }: BulkRow): string {
  const place = [cell('city'), [cell('state'), cell('postal_code')].filter(Boolean).join(' ')];
  return [...place.filter(Boolean), countryOf(cell).toUpperCase()].join(', ');
}

/** Cells of unrecognized columns, keyed by heading. They are echoed back unchanged. */
export const passthroughOf = (plan: ColumnPlan, cells: readonly string[]): Record<string, string> =>
  Object.fromEntries(plan.passthrough.map(({ heading, index }) => [heading, cells[index] ?? '']));

/**
 * Parses rows that are objects keyed by heading, as in a request. Reuses the column plan while the headings stay the
 * same.
 */
export function rowReader(): (cells: Readonly<Record<string, string>>) => {
  plan: ColumnPlan;
  values: string[];
  row: BulkRow;
} {
  let plan = planColumns([]);
  return (cells) => {
    const headings = Object.keys(cells);
    const same =
      headings.length === plan.headings.length &&
      headings.every((heading, index) => heading === plan.headings[index]);
    if (!same) plan = planColumns(headings);
    const values = Object.values(cells);
    return { plan, values, row: readBulkRow(plan, values) };
  };
}

/** Matches order ids. */
const mentioned = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Whether the error of a batch row says that an order with the row's idempotency key already exists. */
export const saysExists = (error: string | undefined): boolean =>
  error?.startsWith('already_exists' satisfies ErrorCode) === true;

/** Id of the order that the error of a batch row names; undefined if the error names no order, or several. */
export function mentionedOrder(error: string): string | undefined {
  const ids = new Set((error.match(mentioned) ?? []).map((id) => id.toLowerCase()));
  const [id = ''] = ids;
  return ids.size === 1 && uuidPattern.test(id) ? id : undefined;
}
