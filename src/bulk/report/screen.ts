import type { Column, Row } from '../../format/result.ts';
import { columnOf } from '../headings.ts';
import { cellUnder, headingsOf } from './file-rows.ts';
import type { ReportRow } from './rows.ts';

/** Columns of the user's own that a terminal shows. */
const mostOwn = 2;

/**
 * The rows of a report on a terminal: what became of each, by what the user knows it, what it cost.
 * @param rowOf the row that a record was made of.
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
        // What the user knows a row by comes before its parts of the money.
        ...{ name: heading, path: heading, weight: at === 0 ? 7.5 : 5, keeps: 'ends' },
        value: (record) => {
          const row = rowOf(record);
          return row && cellUnder(row.own, heading);
        },
      }),
    ),
    {
      ...{ name: 'product', path: 'product', kind: 'url', weight: 8, usesTitles: true },
      value: (record, titleOf) => rowOf(record)?.product(titleOf),
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
    { name: 'why', path: 'reason', weight: 6, isProse: true, goesBelow: true },
  ];
}

const unlessNothing =
  (path: string) =>
  (record: Row): unknown =>
    record[path] === 0 ? undefined : record[path];

/** Columns of the file that tell its rows apart and say nothing that is shown anyway: what the user added, not how to deliver. */
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
  return differ.slice(0, mostOwn);
}

/** Whether cells say who gets something and where, as far as their heading tells; a page is handed on without. */
const isAboutPeople = (heading: string): boolean =>
  /name|nome|mail|phone|telef|tel\b|street|stra(?:ß|ss)e|address|adress|indirizzo|city|ort\b|zip|plz|post|billing|shipping|recipient|empf|customer|kund|cliente|company|firma|contact|product.?url/i.test(
    heading,
  );
