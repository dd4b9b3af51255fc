import { errorTypeHint } from '../../api/error-codes.ts';
import { formatMoney } from '../../format/money.ts';
import { barChart, type PageColumn, type PageSection, pageTable, pageText } from '../../format/page/page.ts';
import { payerNames } from '../../spending/report/rows.ts';
import { type ReportGroup, recordOf, totalsOf } from './groups.ts';
import { cellUnder, productLineOf, type ReportRow } from './rows.ts';
import { tellingColumns } from './summary.ts';

/** Maximum number of table rows on the page. `bulk report -o csv` lists every row. */
const maxRows = 2000;

interface ReportPage {
  /** The name of the file or upload. */
  readonly title: string;
  readonly rows: readonly ReportRow[];
  /** The summary lines that the user sees in the terminal. */
  readonly lines: readonly string[];
  readonly by: string;
  readonly groups: readonly ReportGroup[];
  /** Base URL of the service. */
  readonly service: string;
  /** When the report was made, ms since the epoch. */
  readonly now: number;
}

/** Renders a report as a single page: money, states of orders, totals and every row. Pure. */
export function reportPage({ title, rows, lines, by, groups, service, now }: ReportPage): string {
  return pageText({
    title: `Report ${title}`,
    headline: headlineOf(rows),
    about: lines,
    footer: [`Read from ${service} at ${new Date(now).toISOString()}.`],
    sections: [
      ...failedSection(rows),
      ...totalsOf(rows).map(moneySection),
      { heading: 'States', body: barChart('How the rows stand', stateBars(rows)) },
      ...groupSections(by, groups),
      rowSection(rows),
    ],
  });
}

/** Formats `132 of 200 delivered, $6,280.99 net`. */
function headlineOf(rows: readonly ReportRow[]): string {
  const delivered = rows.filter(({ state }) => state.text === 'delivered').length;
  const nets = new Map<string, number>();
  for (const { sum } of totalsOf(rows)) nets.set(sum.currency, (nets.get(sum.currency) ?? 0) + sum.net);
  const net = [...nets].map(([currency, cents]) => formatMoney(cents, currency)).join(' and ');
  return [`${delivered} of ${rows.length} delivered`, ...(net === '' ? [] : [`${net} net`])].join(', ');
}

/** The failed rows, grouped by reason, the most frequent reason first. */
function failedSection(rows: readonly ReportRow[]): PageSection[] {
  const failed = rows.filter(({ state }) => state.mood === 'bad');
  if (failed.length === 0) return [];
  const reasons = new Map<string, ReportRow[]>();
  for (const row of failed) {
    // Group by code if possible, because the text of a reason may contain amounts that differ between rows.
    const why = row.errorType || row.reason;
    const known = reasons.get(why);
    if (known) known.push(row);
    else reasons.set(why, [row]);
  }
  const table = [...reasons]
    .sort(([, one], [, other]) => other.length - one.length)
    .slice(0, maxReasons)
    .map(([why, all]) => {
      const [reason = '', ...others] = new Set(all.map((row) => row.reason));
      const text = others.length > 0 || reason === '' ? (all[0]?.state.text ?? '') : reason;
      return [String(all.length), { text, mood: 'bad' as const }, errorTypeHint(why) ?? '', numbersOf(all)];
    });
  return [
    {
      heading: 'What to look at first',
      body: pageTable(
        [
          { name: 'rows', isNumber: true },
          { name: 'why', isProse: true },
          { name: 'what to do', isProse: true },
          { name: 'which', isProse: true },
        ],
        table,
      ),
    },
  ];
}

const [maxReasons, maxNumbers] = [20, 12];

function numbersOf(rows: readonly ReportRow[]): string {
  const numbers = rows.slice(0, maxNumbers).map(numberOf);
  return `${numbers.join(', ')}${rows.length > maxNumbers ? ` and ${rows.length - maxNumbers} more` : ''}`;
}

const numberOf = (row: ReportRow): string => String(row.number ?? (row.row?.index ?? 0) + 1);

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
          .slice(0, maxRows)
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

/**
 * Table of the rows. Omits names and streets, because a reader only needs to know what was ordered, for how much and
 * with which outcome. Omits columns that have no values.
 */
function rowSection(rows: readonly ReportRow[]): PageSection {
  const own = tellingColumns(rows);
  const columns: readonly PageColumn[] = [
    { name: 'row', isNumber: true },
    { name: 'state', isProse: true },
    ...own.map((name) => ({ name })),
    { name: 'product', isProse: true },
    ...amountNames.map((name) => ({ name, isNumber: true })),
    { name: 'tracking', isProse: true },
    { name: 'why', isProse: true },
  ];
  const table = rows.slice(0, maxRows).map((row) => cellsOf(row, own));
  const moods = rows.map(({ state }) => state.mood);
  const shown = columns.map((_, at) => at).filter((at) => table.some((cells) => cells[at] !== ''));
  return {
    heading: 'Every row',
    body: pageTable(
      columns.filter((_, at) => shown.includes(at)),
      table.map((cells, index) =>
        shown.map((at) => {
          const [text, mood] = [cells[at] ?? '', moods[index]];
          return at === stateColumn && mood ? { text, mood } : text;
        }),
      ),
    ),
    notes: leftOut(rows.length, '-o csv'),
  };
}

/** Index of the state column. */
const stateColumn = 1;

/** The amounts to show. Those in `inDollars` are in US dollars, the others in the currency of the row's payer. */
const amountNames = ['ceiling', 'charged', 'fee', 'refunded', 'credited', 'quoted'] as const;
const inDollars: readonly string[] = ['ceiling', 'fee', 'credited'];

function cellsOf(row: ReportRow, own: readonly string[]): string[] {
  const record = recordOf(row);
  return [
    numberOf(row),
    row.state.text,
    ...own.map((heading) => cellUnder(row.own, heading)),
    productLineOf(row),
    ...amountNames.map((name) => {
      const cents = record[`${name}_cents`];
      const currency = inDollars.includes(name) ? 'USD' : String(record.currency ?? 'USD');
      return typeof cents === 'number' && cents !== 0 ? formatMoney(cents, currency) : '';
    }),
    row.order?.tracking.join(' ') ?? '',
    row.reason,
  ];
}

const leftOut = (count: number, how: string): string[] =>
  count > maxRows ? [`${count - maxRows} more: bulk report ${how} has every one.`] : [];
