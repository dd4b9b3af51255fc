import { formatMoney } from '../../format/money.ts';
import { barChart, type PageSection, pageTable, pageText } from '../../format/page/page.ts';
import { payerNames } from './rows.ts';
import type { Grouping, Span, SpendRow } from './tally.ts';

interface SpendPage {
  readonly by: Grouping;
  readonly rows: readonly SpendRow[];
  readonly totals: readonly SpendRow[];
  readonly span: Span;
  readonly notes: readonly string[];
  /** Base URL of the service. */
  readonly service: string;
  /** When the report was made, in ms since the epoch. */
  readonly now: number;
}

/**
 * Renders the report as one page. For each payer and currency it has a chart of where the money went, a chart of the
 * groups, and the table. Pure.
 */
export function spendPage({ by, rows, totals, span, notes, service, now }: SpendPage): string {
  const from = span.since === undefined ? 'the first order' : span.since;
  const to = span.before === undefined ? 'now' : `before ${span.before}`;
  return pageText({
    title: `Spending by ${by}`,
    about: [
      `Orders created from ${from} to ${to}. Read from ${service} at ${new Date(now).toISOString()}.`,
      ...notes,
    ],
    sections:
      totals.length === 0
        ? [{ heading: 'Nothing', body: [], notes: ['There are no orders in this time.'] }]
        : totals.flatMap((total) => sectionsOf(by, rows, total)),
  });
}

const amounts = ['spent', 'fees', 'refunded', 'credited', 'net', 'held'] as const;
const whatOf = {
  spent: 'charge',
  fees: 'fee',
  refunded: 'refund',
  credited: 'credit',
  held: 'hold',
} as const;

function sectionsOf(by: Grouping, rows: readonly SpendRow[], total: SpendRow): PageSection[] {
  const { paidBy, currency } = total;
  const of = rows.filter((row) => row.paidBy === paidBy && row.currency === currency);
  const money = (cents: number): string => formatMoney(cents, currency);
  const titleOf = (name: (typeof amounts)[number]): string =>
    name !== 'net' && total.byRule.has(whatOf[name]) ? `${name}*` : name;
  const payer = `${payerNames[paidBy]}, ${currency}`;
  const cells = (row: SpendRow, name: string): string[] => [
    name,
    String(row.orders),
    ...amounts.map((amount) => money(row[amount])),
  ];
  return [
    {
      heading: `Paid by ${payer}`,
      body: barChart(
        `What came of the money: ${payer}`,
        amounts.map((name) => ({ label: titleOf(name), value: total[name], text: money(total[name]) })),
      ),
    },
    {
      heading: `Net by ${by}: ${payer}`,
      body: [
        barChart(
          `Net by ${by}: ${payer}`,
          of.map(({ group, net }) => ({ label: group ?? '(none)', value: net, text: money(net) })),
          { isByTime: by === 'day' || by === 'month' },
        ),
        pageTable(
          [
            { name: by },
            { name: 'orders', isNumber: true },
            ...amounts.map((name) => ({ name: titleOf(name), isNumber: true })),
          ],
          of.map((row) => cells(row, row.group ?? '(none)')),
          [cells(total, 'total')],
        ),
      ],
    },
  ];
}
