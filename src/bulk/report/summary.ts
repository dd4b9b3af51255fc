import { plainHeading } from '../../api/bulk-columns.ts';
import { own, textIn } from '../../api/json.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { joinedText } from '../../format/path.ts';
import type { Column, Row } from '../../format/result.ts';
import { payerNames } from '../../spending/report/rows.ts';
import { rowsText } from '../check/row-sample.ts';
import { columnOf } from '../csv/headings.ts';
import { withdrawalOf } from '../upload/batch.ts';
import { countedReasons } from '../upload/columns.ts';
import { laterLines, withdrawnLines } from '../upload/follow.ts';
import { hasMore, totalsOf } from './groups.ts';
import type { Report } from './read.ts';
import { cellUnder, headingsOf, productLineOf, type ReportRow } from './rows.ts';

/**
 * Summarizes the outcome in lines. The numbers add up: rows = ordered + refused + waiting + left out; orders by state;
 * charges and fees minus refunds. Pure.
 */
export function summaryLines({ rows }: Pick<Report, 'rows'>): string[] {
  if (rows.length === 0) return [];
  const withStatus = (...standings: readonly ReportRow['rowStatus'][]): ReportRow[] =>
    rows.filter((row) => standings.includes(row.rowStatus));
  const [refused, waiting, leftOut] = [withStatus('refused'), withStatus('waiting'), withStatus('left_out')];
  const notOrdered = new Set([...refused, ...waiting, ...leftOut]);
  const ordered = rows.filter((row) => !notOrdered.has(row));
  const retried = rows.filter(({ attempts }) => attempts > 1).length;
  const failed = ordered.filter(({ rowStatus, errorType }) => rowStatus === 'failed' || errorType !== '');
  const withdrawn = withStatus('withdrawn');
  return [
    `${rowsText(rows.length)}: ${counted([
      [ordered.length, 'ordered'],
      [refused.length, 'refused'],
      [waiting.length, 'waiting'],
      [leftOut.length, 'left out'],
    ])}${retried === 0 ? '' : `; ${countText(retried)} tried more than once`}`,
    ...(ordered.length === 0 ? [] : [`${ordersText(ordered.length)}: ${statesText(ordered)}`]),
    ...why('failed', failed),
    ...why('refused', refused),
    ...why('left out', leftOut),
    ...withdrawnLines(withdrawn.flatMap(({ row }) => (row && withdrawalOf(row)) ?? [])),
    ...laterLines(rows.flatMap(({ later }) => later ?? [])),
    ...earlierLines(rows.filter(({ isEarlier }) => isEarlier).length),
    ...moneyLines(rows),
  ];
}

const earlierLines = (count: number): string[] =>
  count === 0
    ? []
    : [
        `${rowsText(count)} ${count === 1 ? 'was' : 'were'} ordered before by other commands; the amounts of these orders count here, too`,
      ];

const counted = (parts: readonly (readonly [count: number, what: string])[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${countText(count)} ${what}`)
    .join(', ') || 'none';

/** Formats the number of orders per state: `7 delivered, 2 failed`. */
function statesText(rows: readonly ReportRow[]): string {
  const states = new Map<string, number>();
  for (const { state, rowStatus } of rows) {
    const isOver = rowStatus === 'failed' || rowStatus === 'withdrawn';
    const shown = state.text.replace(/^failed: .*/s, 'failed').replace(/^\d+ of \d+ (.*)$/s, '$1 in part');
    const text = isOver ? rowStatus : shown;
    states.set(text, (states.get(text) ?? 0) + 1);
  }
  return counted([...states].sort(([, one], [, other]) => other - one).map(([text, count]) => [count, text]));
}

const why = (what: string, rows: readonly ReportRow[]): string[] =>
  rows.length === 0
    ? []
    : [`${countText(rows.length)} ${what}: ${countedReasons(rows.map(({ errorType }) => errorType))}`];

/**
 * Formats `charged $99.95 + fees $5.00* - refunded $19.99* = $84.96 from the wallet`, one line per payer and currency.
 */
function moneyLines(rows: readonly ReportRow[]): string[] {
  const totals = totalsOf(rows).filter(({ sum }) => Object.values(sum).some((value) => Number(value) > 0));
  const lines = totals.flatMap(({ sum, byRule }) => {
    const money = (cents: number): string => formatMoney(cents, sum.currency);
    const ruled = (what: 'fee' | 'refund'): string => (byRule.has(what) ? '*' : '');
    const parts = [
      `charged ${money(sum.charged)}`,
      ...(sum.fee === 0 ? [] : [`+ fees ${money(sum.fee)}${ruled('fee')}`]),
      ...(sum.refunded === 0 ? [] : [`- refunded ${money(sum.refunded)}${ruled('refund')}`]),
      ...(sum.credited === 0 ? [] : [`- credited ${money(sum.credited)}`]),
    ];
    return [
      `${parts.join(' ')} = ${money(sum.net)} from ${sum.payer === 'wallet' ? 'the wallet' : payerNames[sum.payer]}`,
      ...(sum.held === 0 ? [] : [`${money(sum.held)} still held for orders that go on`]),
    ];
  });
  const isRuled = rows.some(({ byRule }) => byRule.includes('fee') || byRule.includes('refund'));
  const mixed = rows.filter(hasMore).length;
  return [
    ...lines,
    ...(isRuled ? ['* by rule: computed from the rules of the service, not read from a record'] : []),
    ...(mixed === 0
      ? []
      : [`${rowsText(mixed)} with amounts of several payers or currencies: -o json has all of them`]),
  ];
}

/** Lines about data that a report lacks. */
export const missingLines = ({ missing, incomplete }: Pick<Report, 'missing' | 'incomplete'>): string[] => [
  ...(missing === 0
    ? []
    : [`${ordersText(missing)} could not be found at the service: their amounts are not included`]),
  ...(incomplete === 0
    ? []
    : [
        `${ordersText(incomplete)} ${incomplete === 1 ? 'does' : 'do'} not say all amounts; what they say is counted`,
      ]),
];

const ordersText = (count: number): string => (count === 1 ? '1 order' : `${countText(count)} orders`);

/** Maximum number of custom columns on a TTY. */
const maxOwn = 2;

/**
 * Columns of a report for a TTY: each row's outcome, the data by which the user identifies the row, and the cost.
 * @param rowOf returns the row from which a record was made.
 */
export function reportScreen(
  rows: readonly ReportRow[],
  rowOf: (record: Row) => ReportRow | undefined,
): readonly Column[] {
  const isNumbered = rows.some(({ number }) => number !== undefined);
  return [
    isNumbered
      ? { name: 'row', path: 'row', kind: 'count', weight: 20 }
      : { name: 'place', path: 'index', kind: 'count', weight: 20, value: ({ index }) => Number(index) + 1 },
    {
      name: 'state',
      path: 'order_state',
      kind: 'status',
      weight: 10,
      mood: (record) => rowOf(record)?.state.mood,
    },
    ...tellingColumns(rows).map(
      (heading, at): Column => ({
        // Give the column that identifies a row more weight than any single amount.
        ...{ name: heading, path: heading, weight: at === 0 ? 7.5 : 5, keeps: 'ends' },
        value: (record) => {
          const row = rowOf(record);
          return row && cellUnder(row.own, heading);
        },
      }),
    ),
    {
      ...{ name: 'product', path: 'product', kind: 'url', weight: 8, usesTitles: true },
      value: (record, titleOf) => {
        const row = rowOf(record);
        return row && productLineOf(row, titleOf);
      },
    },
    { name: 'ceiling', path: 'ceiling_cents', kind: 'money', weight: 4 },
    {
      name: 'charged',
      path: 'charged_cents',
      kind: 'money',
      currency: 'currency',
      weight: 9,
      value: unlessNothing('charged_cents'),
    },
    { name: 'fee', path: 'fee_cents', kind: 'money', weight: 3, value: unlessNothing('fee_cents') },
    {
      ...{ name: 'refunded', path: 'refunded_cents', kind: 'money', currency: 'currency', weight: 7 },
      value: unlessNothing('refunded_cents'),
    },
    {
      name: 'credited',
      path: 'credited_cents',
      kind: 'money',
      weight: 7,
      value: unlessNothing('credited_cents'),
    },
    { name: 'quoted', path: 'quoted_cents', kind: 'money', currency: 'currency', weight: 6 },
    { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 3, isExtra: true },
    { name: 'tracking', path: 'tracking_numbers', weight: 2, isExtra: true },
    { name: 'why', path: 'reason', weight: 6, isProse: true, wraps: true },
  ];
}

const unlessNothing =
  (path: string) =>
  (record: Row): unknown =>
    record[path] === 0 ? undefined : record[path];

/** Custom columns that distinguish the rows and hold no delivery details. */
export function tellingColumns(rows: readonly ReportRow[]): string[] {
  const nameOf = new Map(
    rows.flatMap(({ own }) => own.headings.map((heading, at) => [heading, own.names[at]])),
  );
  const differ = headingsOf(rows).filter((heading) => {
    const column = columnOf(nameOf.get(heading) ?? heading);
    const isOwn =
      column === undefined
        ? !isAboutPeople(heading)
        : column === 'po_number' || column.startsWith('metadata.');
    if (!isOwn) return false;
    const first = rows[0] && cellUnder(rows[0].own, heading);
    return rows.some((row) => cellUnder(row.own, heading) !== first);
  });
  return differ.slice(0, maxOwn);
}

/** Whether a heading suggests personal data. Pages omit such columns, because people pass pages on. */
const isAboutPeople = (heading: string): boolean =>
  /name|nome|mail|phone|telef|tel\b|street|stra(?:ß|ss)e|address|adress|indirizzo|city|ort\b|zip|plz|post|billing|shipping|recipient|empf|customer|kund|cliente|company|firma|contact|product.?url/i.test(
    heading,
  );

/** CSV columns that follow the file's own columns. As in other CSVs, amounts are in cents, and empty if absent. */
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
const metByColumn: Column = { name: 'met by', path: 'met_by', value: ({ met_by: by }) => metByText(by) };
const trackingColumn: Column = {
  name: 'tracking',
  path: 'tracking_numbers',
  value: (row) => joinedText(row.tracking_numbers),
};
const returnsColumn: Column = {
  name: 'returns',
  path: 'returns',
  value: (row) => joinedText(row.returns),
};

/** Names the attempt that decides a row's state, by its upload, or else by the id of its batch or order. */
const metByText = (by: unknown): string =>
  textIn(by, 'upload') ?? textIn(by, 'batch_id') ?? textIn(by, 'order_id') ?? '';

const indexColumn: Column = { name: 'index', path: 'index', kind: 'count' };
const statusColumn: Column = { name: 'status', path: 'status' };
const orderStatusColumn: Column = { name: 'order status', path: 'order_status' };
const errorTypeColumn: Column = { name: 'error type', path: 'error_type' };
const errorColumn: Column = { name: 'error', path: 'error' };

/** Facts that determine the columns for rows. */
interface ShownRows {
  /** Headings of the files, in order. */
  readonly headings: readonly string[];
  /** Whether every row has a row number in a file. If not, the index in the batch is shown. */
  readonly isNumbered: boolean;
}

/** Columns of `bulk report` for machine-readable output. */
export const reportColumns = ({ headings, isNumbered }: ShownRows): readonly Column[] => [
  ...ownColumns(headings),
  ...unlike(headings, [
    rowColumn,
    ...(isNumbered ? [] : [indexColumn]),
    ...[stateColumn, orderColumn],
    { name: 'attempts', path: 'attempts', kind: 'count' },
    metByColumn,
    { name: 'product', path: 'product' },
    ...moneyColumns,
    ...[trackingColumn, returnsColumn, errorTypeColumn],
    { name: 'reason', path: 'reason' },
  ]),
];

/**
 * Columns of `bulk results`. A column that is also in the service's own results has the service's name for it. For rows
 * from other machines, the columns also start in the service's order.
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
  const rest = [stateColumn, errorTypeColumn, ...moneyColumns, trackingColumn, metByColumn, returnsColumn];
  const ours = unlike(headings, [...first, errorColumn, ...rest]);
  if (isFromHere) return [...own, ...ours];
  const asServed = first.length + 1;
  return [...ours.slice(0, asServed), ...own, ...ours.slice(asServed)];
}

/** Columns of the files, in order and under their original headings. */
const ownColumns = (headings: readonly string[]): readonly Column[] =>
  headings.map((heading) => ({
    name: heading,
    path: heading,
    value: ({ own: cells }) => own(cells, heading),
  }));

/** Renames a column if a heading of the user's file has the same name. */
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
