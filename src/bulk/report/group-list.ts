import type { Output } from '../../api/outputs/index.ts';
import { forTable } from '../../format/for-table.ts';
import type { Column, ListResult, Row } from '../../format/result.ts';
import type { Context } from '../../run/context.ts';
import { amountOf, payerNames } from '../../spending/report/rows.ts';
import { type ReportGroup, totalsOf } from './groups.ts';
import type { ReportRow } from './rows.ts';

/** A table ends with totals; other formats have the groups alone. */
export function groupList(
  { output }: Pick<Context, 'output'>,
  by: string,
  rows: readonly ReportRow[],
  groups: readonly ReportGroup[],
  hints: readonly string[],
): ListResult<Output<'BulkReportGroup'>> {
  const records = groups.map((group) => groupRecord(by, group));
  const isTable = output.format === 'table' && output.query === undefined;
  const totals = totalsOf(rows).map((total) => ({ ...groupRecord(by, total), group: 'total' }));
  return {
    kind: 'list',
    rows: isTable && records.length > 0 ? forTable([...records, ...totals]) : records,
    columns: isTable ? groupScreen(by, records) : groupColumns(by),
    id: 'group',
    empty: 'no row is there yet',
    hints: () => hints,
  };
}

/** A group as every format has it. Pure. */
function groupRecord(by: string, { group, sum, byRule, ...counts }: ReportGroup): Output<'BulkReportGroup'> {
  return {
    by,
    group: group ?? null,
    paid_by: sum.payer,
    currency: sum.currency,
    ...counts,
    charged_cents: sum.charged,
    fees_cents: sum.fee,
    refunded_cents: sum.refunded,
    credited_cents: sum.credited,
    net_cents: sum.net,
    held_cents: sum.held,
    by_rule: [...byRule].map((what) => (what === 'charge' ? 'charged_cents' : amountOf[what])).sort(),
  };
}

const amounts = ['charged', 'fees', 'refunded', 'credited', 'net', 'held'] as const;
const counts = ['rows', 'ordered', 'refused', 'waiting'] as const;
const weights = { charged: 9, fees: 6, refunded: 8, credited: 8, net: 10, held: 7 } as const;
const countWeights = { rows: 9, ordered: 5, refused: 5, waiting: 4 } as const;

/** Columns of groups for programs: each of them, whatever it holds. */
const groupColumns = (by: string): readonly Column[] => [
  { name: by, path: 'group' },
  { name: 'paid by', path: 'paid_by' },
  { name: 'currency', path: 'currency' },
  ...counts.map((name): Column => ({ name, path: name, kind: 'count' })),
  ...amounts.map((name): Column => ({ name, path: `${name}_cents`, kind: 'money', currency: 'currency' })),
  { name: 'by rule', path: 'by_rule', value: ({ by_rule: names }) => [names].flat().join(' ') },
];

/** The same for people: what is 0 everywhere is left out, and `*` marks what follows from rules alone. */
function groupScreen(by: string, records: readonly Row[]): readonly Column[] {
  const has = (path: string): boolean => records.some((record) => record[path] !== 0);
  const isRuled = (path: string): boolean =>
    records.some(({ by_rule: names }) => Array.isArray(names) && names.includes(path));
  const isMixed = new Set(records.map(({ paid_by: payer }) => payer)).size > 1;
  return [
    {
      name: by.replace(/^metadata\./, ''),
      path: 'group',
      weight: 12,
      value: ({ group }) => group ?? '(none)',
    },
    ...(isMixed ? [{ name: 'paid by', path: 'paid_by', weight: 11, value: payerIn }] : []),
    ...counts
      .filter((name) => name === 'rows' || name === 'ordered' || has(name))
      .map((name): Column => ({ name, path: name, kind: 'count', weight: countWeights[name] })),
    ...amounts
      .map((name) => [name, `${name}_cents`] as const)
      .filter(([name, path]) => name === 'charged' || name === 'net' || has(path))
      .map(
        ([name, path]): Column => ({
          ...{ name: isRuled(path) ? `${name}*` : name, path, kind: 'money', currency: 'currency' },
          weight: weights[name],
        }),
      ),
  ];
}

const payerIn = ({ paid_by: payer }: Row): string =>
  Object.entries(payerNames).find(([key]) => key === payer)?.[1] ?? '';
