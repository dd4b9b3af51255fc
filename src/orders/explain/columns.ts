import { failedOrderStatuses } from '../../api/enums.ts';
import type { ShownState } from '../../api/order-state.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column, Row, TitleOf } from '../../format/result.ts';
import { spanText } from '../../format/time.ts';
import { milestoneMood, sentences } from '../columns.ts';
import type { Story } from './story.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Columns of a story that fits on one page. The details that people ask for come first, and the evidence comes last.
 */
export const storyColumns: readonly Column[] = [
  { name: 'order', path: 'id', kind: 'id' },
  { name: 'in short', path: 'summary', isProse: true },
  { name: 'status', path: 'status', kind: 'status' },
  {
    name: 'products',
    path: 'products',
    value: ({ products }, titleOf) => productsText(products as Story['products'], titleOf),
    isProse: true,
    usesTitles: true,
  },
  {
    name: 'why',
    isProse: true,
    path: 'why',
    value: ({ why, status }) => (hasFailed(status) ? reasonsText(why as Story['why']) : undefined),
    flat: ({ why }) => reasonsText(why as Story['why']),
  },
  {
    name: 'not as asked',
    isProse: true,
    path: 'not_as_asked',
    value: ({ why, status }) => (hasFailed(status) ? undefined : messagesText(why as Story['why'])),
    flat: null,
  },
  {
    name: 'what to do',
    path: 'what_to_do',
    isProse: true,
    value: ({ why }) => hintsText(why as Story['why']),
  },
  {
    name: 'asked for',
    path: 'asked',
    flat: ({ asked }) => requestText(asked as Story['asked']),
    columns: [
      { name: 'when', path: 'at', kind: 'time', isLocal: true },
      { name: 'by', path: 'actor' },
      { name: 'job', path: 'job' },
      { name: 'command', path: 'command' },
      { name: 'profile', path: 'profile' },
      { name: 'ceiling', path: 'ceiling_cents', kind: 'money' },
      { name: 'ceiling of the whole file', path: 'batch_ceiling_cents', kind: 'money' },
      { name: 'batch', path: 'batch' },
      { name: 'row', path: 'row', kind: 'count' },
    ],
  },
  { name: 'key', path: 'key' },
  { name: 'reference', path: 'reference' },
  { name: 'attempt', path: 'attempt', kind: 'count' },
  {
    name: 'its attempts, as last known',
    path: 'attempts',
    flat: null,
    value: ({ attempts }) => (Array.isArray(attempts) && attempts.length > 1 ? attempts : undefined),
    columns: [
      { name: 'attempt', path: 'attempt', kind: 'count', weight: 8 },
      { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 9 },
      { name: 'state', path: 'state', kind: 'status', weight: 10 },
      { name: 'made', path: 'made_at', kind: 'time', weight: 7 },
    ],
  },
  {
    name: 'policy',
    path: 'policy',
    isProse: true,
    value: ({ policy }) => policyText(policy as Story['policy']),
  },
  {
    name: 'steps on this machine',
    path: 'steps',
    flat: null,
    value: ({ steps }) => rowsOf(steps),
    columns: [
      { name: 'record', path: 'number', kind: 'count', weight: 3 },
      { name: 'when', path: 'at', kind: 'time', isLocal: true, weight: 8 },
      { name: 'step', path: 'step', kind: 'status', weight: 10 },
      { name: 'outcome', path: 'outcome', weight: 9 },
      { name: 'amount', path: 'amount_cents', kind: 'money', currency: 'currency', weight: 7 },
      { name: 'by', path: 'actor', weight: 4 },
    ],
  },
  {
    name: 'milestones of the service',
    path: 'milestones',
    flat: null,
    value: ({ milestones }) => rowsOf(sinceFirst(milestones as Story['milestones'])),
    columns: [
      { name: 'at', path: 'occurred_at', kind: 'time', weight: 9 },
      { name: 'after', path: 'after', weight: 7 },
      {
        name: 'milestone',
        path: 'type',
        kind: 'status',
        weight: 10,
        mood: ({ type }) => milestoneMood(type),
      },
      { name: 'label', path: 'label', weight: 8, isProse: true },
    ],
  },
  {
    name: 'price',
    path: 'price.parts',
    flat: null,
    value: ({ price }) => rowsOf(priceRows(price as Story['price'])),
    columns: [
      { name: 'part', path: 'part', weight: 9 },
      { name: 'amount', path: 'cents', kind: 'money', currency: 'currency', weight: 10 },
    ],
  },
  {
    name: 'money',
    path: 'money.lines',
    flat: ({ money }) => sumsText(money as Story['money']),
    value: ({ money }) => rowsOf(moneyRows(money as Story['money'])),
    columns: [
      { name: 'what', path: 'what', weight: 10 },
      { name: 'amount', path: 'cents', kind: 'money', currency: 'currency', weight: 10 },
      { name: 'payer', path: 'payer', weight: 8 },
      { name: 'known', path: 'known', weight: 7 },
      { name: 'note', path: 'note', weight: 6, isProse: true, wraps: true },
    ],
  },
  {
    name: 'returns',
    path: 'returns',
    flat: null,
    value: ({ returns }) => rowsOf(returns),
    columns: [
      { name: 'return', path: 'id', kind: 'id', names: 'returns', weight: 7 },
      { name: 'status', path: 'status', kind: 'status', weight: 10 },
      { name: 'reason', path: 'reason', weight: 8 },
      { name: 'credited', path: 'credited_amount', kind: 'money', weight: 9 },
      { name: 'updated', path: 'updated_at', kind: 'time', weight: 6 },
    ],
  },
  {
    name: 'events received',
    path: 'events',
    flat: null,
    value: ({ events }) => rowsOf(events),
    columns: [
      { name: 'event', path: 'event', weight: 10 },
      { name: 'status', path: 'status', kind: 'status', weight: 9 },
      { name: 'received', path: 'received_at', kind: 'time', isLocal: true, weight: 8 },
      { name: 'times', path: 'deliveries', kind: 'count', weight: 5 },
      { name: 'id', path: 'id', weight: 4 },
    ],
  },
  {
    name: 'open',
    path: 'open',
    value: ({ open }) => openLines(open as Story['open']),
    flat: ({ open }) => (open as Story['open']).map(({ what, command }) => `${what}: ${command}`).join('; '),
  },
];

/** Same as `storyColumns`, but for a terminal. Shows the order's display state if it is known. */
export const storyScreen = (state: ShownState | undefined): readonly Column[] =>
  state === undefined
    ? storyColumns
    : storyColumns.map((column) =>
        column.name === 'status'
          ? { name: 'state', path: 'state', kind: 'status', value: () => state.text, mood: () => state.mood }
          : column,
      );

const hasFailed = (status: unknown): boolean =>
  [...failedOrderStatuses, 'refused'].some((failed) => failed === status);

/** Leaves out a code that was shown already. */
const reasonsText = (why: Story['why']): string =>
  sentences(
    why.map(({ code, message }, index) =>
      code === null || why.findIndex((one) => one.code === code) < index ? message : `${code}: ${message}`,
    ),
  );

const messagesText = (why: Story['why']): string => sentences(why.map(({ message }) => message));

/** Formats products as `2 x Ground Coffee; 1 x https://…`. Shows titles that this machine knows instead of URLs. */
const productsText = (products: Story['products'], titleOf: TitleOf = () => undefined): string =>
  products
    .map((product) => {
      const at = product.indexOf(' x ') + 3;
      return product.slice(0, at) + (titleOf(product.slice(at)) ?? product.slice(at));
    })
    .join('; ');

const requestText = (asked: Story['asked']): string =>
  asked ? `${asked.at} ${asked.actor}: ${asked.command}` : '';

const sumsText = (money: Story['money']): string =>
  (money?.sums ?? [])
    .map(({ payer, currency, held, net }) => `${words(payer)} ${formatMoney(held + net, currency)}`)
    .join('; ');

const hintsText = (why: Story['why']): string =>
  [...new Set(why.flatMap(({ hint }) => hint ?? []))].join(' ');

/** Puts each open point on a line of its own, so that commands are not truncated. */
const openLines = (open: Story['open']): unknown =>
  Object.fromEntries(open.map(({ what, command }) => [what, command]));

/** Omits empty sections. */
const rowsOf = (rows: unknown): unknown => (Array.isArray(rows) && rows.length > 0 ? rows : undefined);

/** Adds to each milestone the time since the first milestone. */
function sinceFirst(milestones: Story['milestones']): Row[] {
  const start = Date.parse(textOf(milestones[0]?.occurred_at));
  return milestones.map((one) => ({ ...one, after: spanText(Date.parse(textOf(one.occurred_at)) - start) }));
}

function priceRows(price: Story['price']): Row[] {
  if (!price) return [];
  const { currency, parts, total, charged } = price;
  const rows = [...parts, { part: 'in all', cents: total }].map((part) => ({ ...part, currency }));
  return charged ? [...rows, { part: `charged, converted from ${currency}`, ...charged }] : rows;
}

/** All lines, followed by totals per payer and currency. */
function moneyRows(money: Story['money']): Row[] {
  if (!money) return [];
  const lines = money.lines.map((line) => ({ ...line, payer: words(line.payer), known: words(line.basis) }));
  const sums = money.sums.map(({ payer, currency, held, net }) => ({
    ...{ what: 'in all', cents: held + net, currency, payer: words(payer) },
  }));
  return [...lines, ...sums];
}

const words = (name: string): string => textOf(name).replaceAll('_', ' ');

function policyText(policy: Story['policy']): string | undefined {
  if (!policy) return undefined;
  const { state, reserved_cents: reserved, fee_cents: fee, counted_cents: counted, override } = policy;
  const counts: Readonly<Record<string, string>> = {
    held: `${formatMoney(counted)} counts until its cost is known: ceiling ${formatMoney(reserved - fee)}, fee ${formatMoney(fee)}`,
    settled: `${formatMoney(counted)} counts, what it cost with the fee`,
    released: 'nothing of it counts any more',
  };
  const why = override === null ? 'allowed' : `allowed by an override (${override})`;
  return `${why}; ${counts[state] ?? state}`;
}
