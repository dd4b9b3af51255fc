import { plainHeading } from '../../api/bulk-columns.ts';
import { own } from '../../api/json.ts';
import { joinedText } from '../../format/path.ts';
import type { Column, Row } from '../../format/result.ts';

/**
 * What a CSV has of every row behind the columns of its file. Amounts are spelled as in other CSVs: in cents, nothing where
 * there is none.
 */
const moneyColumns: readonly Column[] = [
  { name: 'ceiling', path: 'ceiling_cents', kind: 'money' },
  { name: 'quoted', path: 'quoted_cents', kind: 'money', currency: 'currency' },
  { name: 'charged', path: 'charged_cents', kind: 'money', currency: 'currency' },
  { name: 'fee', path: 'fee_cents', kind: 'money' },
  { name: 'refunded', path: 'refunded_cents', kind: 'money', currency: 'currency' },
  { name: 'credited', path: 'credited_cents', kind: 'money' },
  { name: 'from wallet', path: 'from_wallet_cents', kind: 'money' },
  { name: 'held', path: 'held_cents', kind: 'money', currency: 'currency' },
  { name: 'currency', path: 'currency' },
  { name: 'paid by', path: 'paid_by' },
];
const rowColumn: Column = { name: 'row', path: 'row', kind: 'count' };
const stateColumn: Column = { name: 'state', path: 'order_state', kind: 'status' };
const orderColumn: Column = { name: 'order', path: 'order_id', kind: 'id', names: 'orders' };
const trackingColumn: Column = {
  name: 'tracking',
  path: 'tracking_numbers',
  value: (row) => joinedText(row.tracking_numbers),
};

const indexColumn: Column = { name: 'index', path: 'index', kind: 'count' };
const statusColumn: Column = { name: 'status', path: 'status' };
const orderStatusColumn: Column = { name: 'order status', path: 'order_status' };
const errorTypeColumn: Column = { name: 'error type', path: 'error_type' };
const errorColumn: Column = { name: 'error', path: 'error' };

/** What the columns of rows depend on. */
interface ShownRows {
  /** Of the files, in their order. */
  readonly headings: readonly string[];
  /** Whether each row has the number of its file; those that have none have the batch's index. */
  readonly isNumbered: boolean;
}

/** Columns of `bulk report` for programs. */
export const reportColumns = ({ headings, isNumbered }: ShownRows): readonly Column[] => [
  ...ownColumns(headings),
  ...unlike(headings, [
    rowColumn,
    ...(isNumbered ? [] : [indexColumn]),
    ...[stateColumn, orderColumn],
    { name: 'attempts', path: 'attempts', kind: 'count' },
    { name: 'product', path: 'product' },
    ...moneyColumns,
    ...[trackingColumn, errorTypeColumn],
    { name: 'reason', path: 'reason' },
  ]),
];

/**
 * The same of `bulk results`, under the names of the service's own results where it has them. Rows that were uploaded from
 * elsewhere begin as there.
 */
export function resultColumns({
  headings,
  isNumbered,
  isFromHere,
}: ShownRows & { readonly isFromHere: boolean }): readonly Column[] {
  const own = ownColumns(headings);
  const row = isFromHere
    ? [rowColumn, ...(isNumbered ? [] : [indexColumn])]
    : [isNumbered ? rowColumn : indexColumn];
  const first = [...row, statusColumn, orderColumn, orderStatusColumn];
  const rest = [stateColumn, errorTypeColumn, ...moneyColumns, trackingColumn];
  const ours = unlike(headings, [...first, errorColumn, ...rest]);
  if (isFromHere) return [...own, ...ours];
  const asServed = first.length + 1;
  return [...ours.slice(0, asServed), ...own, ...ours.slice(asServed)];
}

/** The columns of files as they are headed there, each in its place. */
const ownColumns = (headings: readonly string[]): readonly Column[] =>
  headings.map((heading) => ({
    name: heading,
    path: heading,
    value: ({ own: cells }) => own(cells, heading),
  }));

/** The first that no file has: a column of the user's keeps its name. */
function unlike(headings: readonly string[], columns: readonly Column[]): readonly Column[] {
  const taken = new Set(headings.map(plainHeading));
  return columns.map((column) => {
    const read = column.value ?? ((row: Row) => row[column.path]);
    let path = column.path;
    for (let count = 1; taken.has(plainHeading(path)); count += 1)
      path = `errand_${column.path}${count === 1 ? '' : `_${count}`}`;
    taken.add(plainHeading(path));
    return { ...column, path, value: (row: Row) => read(row) };
  });
}
