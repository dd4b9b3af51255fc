import type { Plan, PlanTotal } from '../../api/schemas/plan-file.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { type Bar, barChart, type PageSection, pageTable, pageText } from '../../format/page/page.ts';
import type { Html } from '../../platform/html.ts';
import type { ShownRow } from './shown-rows.ts';

/** Maximum number of table rows on the page. `bulk show --all -o csv` lists every row. */
const maxRows = 2000;

interface PlanPage {
  readonly path: string;
  readonly plan: Plan;
  readonly rows: readonly ShownRow[];
  /** The summary lines that the user sees in the terminal. */
  readonly lines: readonly string[];
}

/** Renders a plan as a single page for approvers: totals, findings and who must decide. Pure. */
export function planPage({ path, plan, rows, lines }: PlanPage): string {
  const toReview = rows.filter(({ kinds }) => kinds.length > 0);
  return pageText({
    title: `Plan ${path}`,
    headline: `${countText(plan.orders)} ${plan.orders === 1 ? 'order' : 'orders'}, at most ${formatMoney(plan.most_cents)}${plan.is_rehearsal ? ': a rehearsal, no money moves' : ''}`,
    about: lines,
    sections: [
      { heading: 'Money', body: barChart('What it may cost', moneyBars(plan, rows)) },
      toReview.length === 0
        ? { heading: 'Look at', body: [], notes: ['No row needs a look.'] }
        : { heading: 'Look at', body: rowTable(toReview), notes: leftOut(toReview) },
      ...policySections(plan),
      ...[...new Set(plan.totals.map(({ by }) => by))].map((by) => totalSection(by, plan.totals)),
      {
        heading: 'Approval',
        body: pageTable(
          ['name', 'date', 'signature'].map((name) => ({ name })),
          [['\u00a0', '\u00a0', '\u00a0']],
        ),
        notes: [`Of exactly the rows below, and of no more than ${formatMoney(plan.most_cents)}.`],
      },
      { heading: 'Every row', body: rowTable(rows), notes: leftOut(rows) },
    ],
    footer: [
      `service ${plan.service}, profile ${plan.profile}`,
      `SHA-256 of the plan ${plan.sha256}; of ${plan.file.name} ${plan.file.sha256}`,
    ],
  });
}

function moneyBars(
  { ceilings_cents, fee_cents, orders, most_cents, wallet }: Plan,
  rows: readonly ShownRow[],
): Bar[] {
  const prices = rows.reduce((sum, { price_cents: price }) => sum + (price ?? 0), 0);
  const bar = (label: string, cents: number): Bar => ({ label, value: cents, text: formatMoney(cents) });
  return [
    bar('prices today, known', prices),
    bar('ceilings', ceilings_cents),
    bar('fees', fee_cents * orders),
    bar('at most, with fees', most_cents),
    ...(wallet.before_cents === null ? [] : [bar('wallet before', wallet.before_cents)]),
    ...(wallet.after_cents === null ? [] : [bar('wallet after, at least', wallet.after_cents)]),
  ];
}

function totalSection(by: string, totals: readonly PlanTotal[]): PageSection {
  const group = totals.filter((total) => total.by === by);
  return {
    heading: `By ${by}`,
    body: [
      barChart(
        `Ceilings by ${by}`,
        group.map(({ value, ceilings_cents: cents }) => ({
          label: value,
          value: cents,
          text: formatMoney(cents),
        })),
      ),
      pageTable(
        [
          { name: by },
          ...['orders', 'ceilings', 'fees', 'prices today', 'without a price'].map((name) => ({
            name,
            isNumber: true,
          })),
        ],
        group.map((total) => [
          total.value,
          String(total.orders),
          formatMoney(total.ceilings_cents),
          formatMoney(total.fees_cents),
          formatMoney(total.prices_cents),
          String(total.unpriced),
        ]),
      ),
    ],
  };
}

function policySections({ policy }: Plan): PageSection[] {
  if (!policy) return [];
  return [
    {
      heading: `Policy: ${policy.outcome.replace('_', ' ')}`,
      body: pageTable(
        [{ name: 'rule' }, { name: 'applies to' }, { name: 'verdict' }, { name: 'why' }],
        policy.rules.map(({ rule, applies_to: part, outcome, message }) => [
          rule,
          part ?? '',
          outcome,
          message,
        ]),
      ),
    },
  ];
}

/** Omits names and streets, because an approver only needs to know what is bought, from whom and for how much. */
const rowTable = (rows: readonly ShownRow[]): Html =>
  pageTable(
    [
      { name: 'row', isNumber: true },
      { name: 'product' },
      ...['ceiling', 'price today', 'room'].map((name) => ({ name, isNumber: true })),
      { name: 'look at' },
    ],
    rows
      .slice(0, maxRows)
      .map((row) => [
        String(row.row),
        `${row.quantity === row.urls.length ? '' : `${row.quantity} × `}${row.urls.join(' ')}`,
        formatMoney(row.ceiling_cents),
        row.price_cents === null ? '' : formatMoney(row.price_cents),
        row.room_cents === null ? '' : formatMoney(row.room_cents),
        row.why.join('; '),
      ]),
  );

const leftOut = (rows: readonly ShownRow[]): string[] =>
  rows.length > maxRows ? [`${rows.length - maxRows} more: bulk show --all -o csv has every row.`] : [];
