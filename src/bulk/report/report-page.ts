import { formatMoney } from '../../output/money.ts';
import { barChart } from '../../output/page/bar-chart.ts';
import { type PageSection, pageText } from '../../output/page/page.ts';
import { pageTable } from '../../output/page/page-table.ts';
import { payerNames } from '../../spending/report/rows.ts';
import { cellUnder } from './file-rows.ts';
import { type ReportGroup, totalsOf } from './groups.ts';
import { recordOf } from './record.ts';
import type { ReportRow } from './rows.ts';
import { tellingColumns } from './screen.ts';

/** Rows that a table of the page has; `bulk report -o csv` has every one. */
const mostRows = 2000;

interface ReportPage {
  /** The name of the file or upload. */
  readonly title: string;
  readonly rows: readonly ReportRow[];
  /** What a person is told of it, line by line. */
  readonly lines: readonly string[];
  readonly by: string;
  readonly groups: readonly ReportGroup[];
  /** Its address. */
  readonly service: string;
  /** ms since the epoch. */
  readonly now: number;
}

/** A report as one page: what came of the money, how the orders stand, totals, and every row. Pure. */
export function reportPage({ title, rows, lines, by, groups, service, now }: ReportPage): string {
  return pageText({
    title: `Report ${title}`,
    about: [...lines, `Read from ${service} at ${new Date(now).toISOString()}.`],
    sections: [
      ...totalsOf(rows).map(moneySection),
      { heading: 'States', body: barChart('How the rows stand', stateBars(rows)) },
      ...groupSections(by, groups),
      rowSection(rows),
    ],
  });
}

const amounts = ['charged', 'fee', 'refunded', 'credited', 'net', 'held'] as const;

function moneySection({ sum }: ReportGroup): PageSection {
  const payer = `${payerNames[sum.payer]}, ${sum.currency}`;
  return {
    heading: `Paid by ${payer}`,
    body: barChart(
      `What came of the money: ${payer}`,
      amounts.map((name) => ({
        label: name === 'fee' ? 'fees' : name,
        value: sum[name],
        text: formatMoney(sum[name], sum.currency),
      })),
    ),
  };
}

function stateBars(rows: readonly ReportRow[]) {
  const states = new Map<string, number>();
  for (const { state } of rows) states.set(state.text, (states.get(state.text) ?? 0) + 1);
  return [...states]
    .sort(([, one], [, other]) => other - one)
    .map(([label, value]) => ({ label, value, text: String(value) }));
}

function groupSections(by: string, groups: readonly ReportGroup[]): PageSection[] {
  if (groups.length === 0) return [];
  const money = ({ sum }: ReportGroup, cents: number): string => formatMoney(cents, sum.currency);
  return [
    {
      heading: `By ${by}`,
      body: pageTable(
        [
          { name: by },
          { name: 'paid by' },
          ...['rows', 'ordered', 'refused', ...amounts].map((name) => ({ name, isNumber: true })),
        ],
        groups
          .slice(0, mostRows)
          .map((group) => [
            group.group ?? '(none)',
            payerNames[group.sum.payer],
            ...[group.rows, group.ordered, group.refused].map(String),
            ...amounts.map((name) => money(group, group.sum[name])),
          ]),
      ),
      notes: leftOut(groups.length, `--by ${by} -o csv`),
    },
  ];
}

/** Names and streets stay out: whoever reads it needs what, how it ended and for how much. */
function rowSection(rows: readonly ReportRow[]): PageSection {
  const own = tellingColumns(rows);
  return {
    heading: 'Every row',
    body: pageTable(
      [
        { name: 'row', isNumber: true },
        ...own.map((name) => ({ name })),
        ...[{ name: 'state' }, { name: 'product' }],
        ...['ceiling', 'charged', 'fee', 'refunded', 'quoted'].map((name) => ({ name, isNumber: true })),
        ...[{ name: 'tracking' }, { name: 'why' }],
      ],
      rows.slice(0, mostRows).map((row) => {
        const record = recordOf(row);
        const money = (name: string, currency: unknown): string => {
          const cents = record[name];
          return typeof cents === 'number' && cents !== 0 ? formatMoney(cents, String(currency)) : '';
        };
        return [
          String(row.number ?? row.row.index + 1),
          ...own.map((heading) => cellUnder(row.own, heading)),
          row.state.text,
          row.product(),
          money('ceiling_cents', 'USD'),
          money('charged_cents', record.currency),
          money('fee_cents', 'USD'),
          money('refunded_cents', record.currency),
          money('quoted_cents', record.currency),
          row.order?.tracking.join(' ') ?? '',
          row.reason,
        ];
      }),
    ),
    notes: leftOut(rows.length, '-o csv'),
  };
}

const leftOut = (count: number, how: string): string[] =>
  count > mostRows ? [`${count - mostRows} more: bulk report ${how} has every one.`] : [];
