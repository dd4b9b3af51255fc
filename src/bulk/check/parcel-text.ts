import type { BulkColumn, ColumnPlan } from '../../api/bulk-columns.ts';
import type { BulkIssue } from '../../api/bulk-row.ts';
import { statesOfZip } from '../../api/us-zip.ts';
import { hasEntities, repairedText } from '../../format/damaged-text.ts';
import type { FileRow } from '../rows.ts';

/** Columns whose text is printed on a parcel or sent with it. */
export const printedColumns = [
  ...['name', 'first_name', 'last_name', 'address_line1', 'address_line2', 'city', 'state'],
  'gift_message',
] as const satisfies readonly BulkColumn[];

const streetColumns = ['address_line1', 'address_line2'] as const;

/** Every damaged text has one of these characters. Most texts have none of them, so they skip the full check. */
const maybeDamaged = /[&\u00c2-\u00f4\ufffd]/;
const maybeBox = /box|postfach|casella|packstation|paketstation|[afd]po\b/i;

/** Addresses to which not every carrier delivers. */
const boxes: readonly (readonly [form: RegExp, message: string])[] = [
  [
    /\bp\.?\s{0,3}o\.?\s{0,3}box\b|\bpost\s?(?:office\s)?box\b|\bpostfach\b|\bcasella\s+postale\b/i,
    'is a post office box, which many carriers refuse',
  ],
  [/\bpackstation\b|\bpaketstation\b/i, 'is a parcel locker of DHL, to which no other carrier delivers'],
  [/^\s*(?:psc|cmr|unit|box)\b.*\bbox\b|\b[AFD]PO\b/, 'is a military address, to which only USPS delivers'],
];

/**
 * Problems in the texts of a valid row that the service accepts. A message includes the corrected text if the
 * correction is certain. Called for each row of a file.
 */
export function parcelWarnings({ row, cells, plan }: FileRow): BulkIssue[] {
  const found: BulkIssue[] = [];
  for (const { column, index } of printedIn(plan.columns)) {
    const value = cells[index] ?? '';
    if (maybeDamaged.test(value)) found.push(...damageOf(column, value));
  }
  for (const column of streetColumns) {
    const value = row.cell(column);
    if (value.includes('\n') && value.split('\n').filter((line) => line.trim() !== '').length > 2)
      found.push({ column, value, message: 'has three lines or more, and a label has room for two' });
    if (maybeBox.test(value)) found.push(...boxOf(column, value));
  }
  const city = row.cell('city');
  if (maybeBox.test(city)) found.push(...boxOf('city', city));
  const elsewhere = zipElsewhere(row);
  if (elsewhere) found.push(elsewhere);
  return found;
}

/** The printed columns of a table. All rows of a file share them. */
function printedIn(columns: ColumnPlan['columns']): typeof lastTable.printed {
  if (lastTable.columns !== columns) {
    const printed = printedColumns.flatMap((column) => {
      const index = columns.get(column);
      return index === undefined ? [] : [{ column, index }];
    });
    lastTable = { columns, printed };
  }
  return lastTable.printed;
}

let lastTable: {
  readonly columns: ColumnPlan['columns'];
  readonly printed: readonly { readonly column: BulkColumn; readonly index: number }[];
} = { columns: new Map(), printed: [] };

function damageOf(column: string, value: string): BulkIssue[] {
  if (value.includes('\ufffd'))
    return [
      { column, value, message: 'has a character that an earlier program lost (U+FFFD); type it again' },
    ];
  const repaired = repairedText(value);
  if (repaired === value)
    return hasEntities(value) ? [{ column, value, message: 'has an HTML entity that is not known' }] : [];
  const what = hasEntities(value)
    ? 'has HTML entities, which would be printed as they stand'
    : 'was read in the wrong encoding by an earlier program';
  return [{ column, value, message: `${what}; write ${repaired}` }];
}

function boxOf(column: string, value: string): BulkIssue[] {
  const message = boxes.find(([form]) => form.test(value))?.[1];
  return message === undefined ? [] : [{ column, value, message }];
}

/** A warning if the ZIP code belongs to a state other than the one in the address. */
function zipElsewhere({ cell }: FileRow['row']): BulkIssue | undefined {
  const [state, zip, country] = [cell('state'), cell('postal_code'), cell('country')];
  if (state.length !== 2 || !(country === '' || country.toUpperCase() === 'US')) return undefined;
  const states = statesOfZip(zip);
  if (states.length === 0 || states.includes(state) || states.includes(state.toUpperCase())) return undefined;
  return {
    column: 'postal_code',
    value: zip,
    message: `is a ZIP code of ${states.join(' or ')}, and the state is ${state}`,
  };
}
