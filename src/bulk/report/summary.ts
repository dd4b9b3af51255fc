import { countText } from '../../format/count-text.ts';
import { formatMoney } from '../../format/money.ts';
import { payerNames } from '../../spending/report/rows.ts';
import { countedReasons } from '../reasons.ts';
import { rowsText } from '../spend.ts';
import { totalsOf } from './groups.ts';
import type { Report } from './read.ts';
import { hasMore } from './record.ts';
import type { ReportRow } from './rows.ts';

/**
 * What became of rows, in lines whose numbers add up: rows = ordered + refused + waiting, the orders by their states, charged
 * and fees less what came back. Pure.
 */
export function summaryLines({ rows }: Pick<Report, 'rows'>): string[] {
  if (rows.length === 0) return [];
  const standing = (...standings: readonly ReportRow['standing'][]): ReportRow[] =>
    rows.filter((row) => standings.includes(row.standing));
  const [refused, waiting] = [standing('refused'), standing('waiting')];
  const ordered = rows.filter((row) => !refused.includes(row) && !waiting.includes(row));
  const retried = rows.filter(({ attempts }) => attempts > 1).length;
  const failed = ordered.filter(({ errorType }) => errorType !== '');
  return [
    `${rowsText(rows.length)}: ${counted([
      [ordered.length, 'ordered'],
      [refused.length, 'refused'],
      [waiting.length, 'waiting'],
    ])}${retried === 0 ? '' : `; ${countText(retried)} tried more than once`}`,
    ...(ordered.length === 0 ? [] : [`${ordersText(ordered.length)}: ${statesText(ordered)}`]),
    ...why('failed', failed),
    ...why('refused', refused),
    ...moneyLines(rows),
  ];
}

const counted = (parts: readonly (readonly [count: number, what: string])[]): string =>
  parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${countText(count)} ${what}`)
    .join(', ') || 'none';

/** `7 delivered, 2 failed`: states by how many orders are in them. */
function statesText(rows: readonly ReportRow[]): string {
  const states = new Map<string, number>();
  for (const { state } of rows) {
    const text = state.text.replace(/^failed: .*/s, 'failed').replace(/^\d+ of \d+ (.*)$/s, '$1 in part');
    states.set(text, (states.get(text) ?? 0) + 1);
  }
  return counted([...states].sort(([, one], [, other]) => other - one).map(([text, count]) => [count, text]));
}

const why = (what: string, rows: readonly ReportRow[]): string[] =>
  rows.length === 0
    ? []
    : [`${countText(rows.length)} ${what}: ${countedReasons(rows.map(({ errorType }) => errorType))}`];

/** `charged $99.95 + fees $5.00* - refunded $19.99* = $84.96 from the wallet`, a line for each payer and currency. */
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

/** What a report does not know. */
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
