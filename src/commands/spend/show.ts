import { defineCommand } from '../../cli/define.ts';
import { checkPage, pageOptions, savePage } from '../../cli/page-options.ts';
import { forTable } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import { didYouMean } from '../../platform/near-words.ts';
import { agentOrderNotes } from '../../spending/report/agent-orders.ts';
import { readRetailers, readWallet } from '../../spending/report/read.ts';
import { plainColumns, recordOf, shareColumn, tableColumns } from '../../spending/report/rows.ts';
import { type Grouping, groupings, groupOf, spanOf, Tally, totalsOf } from '../../spending/report/tally.ts';
import { reportZone } from '../../spending/report/time-zone.ts';
import { ordersOf, spanOptions } from './orders.ts';

export const show = defineCommand({
  name: 'show',
  isDefault: true,
  summary:
    'Show what orders cost, what was refunded and what is still held, by day, month, retailer and more',
  description:
    'Read from the orders of the service. Net is spent plus fees, less refunds and credits; held amounts are excluded. Each order counts in full, later refunds included, in the period when it was created. Only wallet payments in the currency of the wallet are added up; retailer accounts, cards, connect and other currencies are separate. A note reports agent orders, which the service does not list. Tables end with totals; other formats have rows only.',
  options: {
    by: {
      kind: 'text',
      placeholder: 'what',
      suggests: [...groupings, 'metadata.KEY'],
      description: 'what the rows are; month without it',
    },
    ...spanOptions,
    ...pageOptions('which needs nothing else'),
  },
  examples: [
    { command: 'errand spend', note: 'every month' },
    { command: 'errand spend --by retailer --since 2026-11 --until 2026-11', note: 'one month, by retailer' },
    { command: 'errand spend --by metadata.team -o csv', note: 'by a key of your own, in cents' },
    { command: 'errand spend --by day --since 30d --html spend.html --force', note: 'a page to hand on' },
  ],
  output: { list: 'SpendGroup' },
  operations: ['order.list', 'wallet.get', 'retailer.list'],
  related: ['spend export', 'policy usage', 'wallet'],
  async run(context, { by: given = 'month', html, force = false, timeZone: zoneGiven, since, until }) {
    const by = groupingNamed(given);
    const { timeZone, note } = await reportZone(context, zoneGiven);
    const span = spanOf({ since, until }, timeZone, context.serviceClock.now());
    checkPage(html, force);
    const { feeCents } = await readWallet(context);
    const retailers = by === 'retailer' ? await readRetailers(await context.client()) : () => '';
    const tally = new Tally(groupOf(by, { timeZone, retailers }), feeCents);
    for await (const order of ordersOf(context, span)) tally.add(order);
    const rows = tally.rows(by === 'day' || by === 'month');
    const totals = totalsOf(rows);
    const agents = await agentOrderNotes(context, span);
    const notes = [...agents, ...notesOf(tally, rows, note)];
    if (html !== undefined) {
      const { spendPage } = await import('../../spending/report/spend-page.ts');
      const made = { by, rows, totals, span, notes, service: context.settings.baseUrl.value };
      await savePage(context, html, spendPage({ ...made, now: context.serviceClock.now() }), { force });
    }
    const isTable = context.output.format === 'table' && context.output.query === undefined;
    const columns = isTable ? tableColumns(by, rows) : plainColumns(by);
    const records = rows.map((row) => recordOf(by, row));
    const hasSpent = totals.some(({ net }) => net > 0);
    return {
      kind: 'list',
      rows: isTable
        ? forTable([
            ...records,
            ...totals.map((row) => ({ ...recordOf(by, row), group: 'total', is_total: true })),
          ])
        : records,
      columns,
      ...(isTable && hasSpent && { screen: [...columns, shareColumn(totals)] }),
      id: 'group',
      empty: 'there are no orders in this time',
      hints: () => notes,
    };
  },
});

/** @throws UsageError suggesting the closest grouping. */
function groupingNamed(text: string): Grouping {
  const known = groupings.find((name) => name === text);
  if (known) return known;
  if (/^metadata\..{1,200}$/s.test(text)) return `metadata.${text.slice('metadata.'.length)}`;
  throw new UsageError(
    `--by takes ${groupings.join(', ')} or metadata.KEY, not "${text}"${didYouMean(text, groupings)}`,
  );
}

function notesOf(
  { orders, incomplete }: Tally,
  rows: ReturnType<Tally['rows']>,
  zone: string,
): readonly string[] {
  if (orders === 0) return [];
  const isByRule = rows.some(({ byRule }) => byRule.size > 0);
  const apart = rows.some(({ paidBy, currency }) => paidBy !== 'wallet' || currency !== 'USD');
  return [
    ...(isByRule
      ? [
          '* by rule: at least part of the amount is computed from the rules of the service, not read from a record',
        ]
      : []),
    ...(apart
      ? ['only the wallet pays from your balance; other payers and currencies have rows of their own']
      : []),
    ...(incomplete > 0
      ? [`${incomplete} of ${orders} orders do not say all their amounts; what they say is counted`]
      : []),
    zone,
  ];
}
