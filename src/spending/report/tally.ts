import { own, textIn } from '../../api/json.ts';
import { monthForm, parseDate } from '../../format/time.ts';
import { UsageError } from '../../platform/errors.ts';
import { type MoneyLine, type MoneySum, type Payer, tooMuch } from '../money-lines.ts';
import { moneyOf } from '../money-of-order.ts';
import { beginOf, datesIn } from '../policy/policy.ts';
import { type RetailerNames, retailersOf } from './read.ts';

/** Totals of a group of orders, for one payer and one currency. */
export interface SpendRow {
  /** Name of the group. Undefined if the orders do not have the value by which they are grouped. */
  readonly group: string | undefined;
  readonly paidBy: Payer;
  readonly currency: string;
  /** Number of orders whose goods were paid by this payer. */
  orders: number;
  /** Cost of goods, shipping and tax. This amount, like all amounts below, is in minor units of the currency. */
  spent: number;
  fees: number;
  refunded: number;
  credited: number;
  /** Net cost: spent plus fees, minus refunded and credited. */
  net: number;
  held: number;
  /** The kinds of amounts of which at least a part was inferred from the service's rules. */
  readonly byRule: Set<MoneyLine['what']>;
}

/**
 * Maximum number of separate groups. All further orders are combined into one group, so that memory does not grow with
 * the number of orders.
 */
const maxGroups = 10_000;
const otherGroups = '(others)';

/** Adds up orders one by one. Memory grows with the number of groups, not with the number of orders. */
export class Tally {
  readonly #groupOf: GroupOf;
  readonly #feeCents: number | undefined;
  readonly #groups = new Map<string | undefined, Map<string, SpendRow>>();
  orders = 0;
  /** Number of orders with an unknown amount. */
  incomplete = 0;

  constructor(groupOf: GroupOf, feeCents: number | undefined) {
    this.#groupOf = groupOf;
    this.#feeCents = feeCents;
  }

  /** @throws UnavailableError if an amount is too large for a number. */
  add(order: unknown): void {
    const { payer, lines, sums, isComplete } = moneyOf(order, { feeCents: this.#feeCents });
    const named = this.#groupOf(order);
    const isOther = !this.#groups.has(named) && this.#groups.size >= maxGroups;
    const group = isOther ? otherGroups : named;
    this.orders += 1;
    if (!isComplete) this.incomplete += 1;
    const own = sums.find((sum) => sum.payer === payer);
    this.#row(group, payer, own?.currency ?? 'USD').orders += 1;
    for (const sum of sums) enter(this.#row(group, sum.payer, sum.currency), sum);
    for (const { what, basis, payer: of, currency } of lines)
      if (basis === 'by_rule') this.#row(group, of, currency).byRule.add(what);
  }

  /**
   * The rows. If the groups are days or months, they are sorted by time. Otherwise the most expensive group comes
   * first.
   */
  rows(isByTime: boolean): readonly SpendRow[] {
    const weight = (rows: Map<string, SpendRow>): number =>
      Math.max(...[...rows.values()].map(({ net, held }) => net + held));
    const groups = [...this.#groups].toSorted(([a = '', some], [b = '', others]) =>
      isByTime ? compare(a, b) : weight(others) - weight(some) || compare(a, b),
    );
    return groups.flatMap(([, rows]) => [...rows.values()].toSorted(walletFirst));
  }

  #row(group: string | undefined, paidBy: Payer, currency: string): SpendRow {
    const rows = this.#groups.get(group) ?? new Map<string, SpendRow>();
    this.#groups.set(group, rows);
    const key = `${paidBy} ${currency}`;
    const row = rows.get(key) ?? emptyRow(group, paidBy, currency);
    rows.set(key, row);
    return row;
  }
}

/** Totals of all rows per payer and currency. Different payers or currencies are never added together. Pure. */
export function totalsOf(rows: readonly SpendRow[]): SpendRow[] {
  const totals = new Map<string, SpendRow>();
  for (const row of rows) {
    const key = `${row.paidBy} ${row.currency}`;
    const total = totals.get(key) ?? emptyRow(undefined, row.paidBy, row.currency);
    totals.set(key, total);
    total.orders += row.orders;
    enter(total, { ...row, charged: row.spent, fee: row.fees });
    for (const what of row.byRule) total.byRule.add(what);
  }
  return [...totals.values()].sort(walletFirst);
}

const emptyRow = (group: string | undefined, paidBy: Payer, currency: string): SpendRow => ({
  ...{ group, paidBy, currency, byRule: new Set() },
  ...{ orders: 0, spent: 0, fees: 0, refunded: 0, credited: 0, net: 0, held: 0 },
});

function enter(row: SpendRow, sum: Omit<MoneySum, 'payer' | 'currency'>): void {
  row.spent += sum.charged;
  row.fees += sum.fee;
  row.refunded += sum.refunded;
  row.credited += sum.credited;
  row.net += sum.net;
  row.held += sum.held;
  if ([row.spent, row.fees, row.refunded, row.credited, row.net, row.held].every(Number.isSafeInteger))
    return;
  throw tooMuch();
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const walletFirst = (a: SpendRow, b: SpendRow): number =>
  Number(b.paidBy === 'wallet') - Number(a.paidBy === 'wallet') ||
  compare(a.paidBy, b.paidBy) ||
  compare(a.currency, b.currency);

/** What orders can be grouped by, apart from `metadata.KEY`. */
export const groupings = ['day', 'month', 'retailer', 'country', 'po', 'account'] as const;
export type Grouping = (typeof groupings)[number] | `metadata.${string}`;

/** Determines the group of an order. Undefined if the order does not have the value by which orders are grouped. */
type GroupOf = (order: unknown) => string | undefined;

/** Maximum length of a group's name, in characters. The name may come from metadata, which may be of any length. */
const maxNameLength = 200;

/**
 * Returns a function that determines an order's group. An order from several retailers forms a group of its own, so
 * that nothing is counted twice. Pure, except for the functions passed in.
 */
export function groupOf(
  by: Grouping,
  { timeZone, retailers }: { readonly timeZone: string; readonly retailers: RetailerNames },
): GroupOf {
  const dateAt = datesIn(timeZone);
  const day: GroupOf = (order) => {
    const at = Date.parse(textIn(order, 'created_at') ?? '');
    return Number.isNaN(at) ? undefined : dateAt(at);
  };
  const field = (name: string, record: unknown): string | undefined => {
    const value = own(record, name);
    if (value === undefined || value === null || value === '') return undefined;
    return short(typeof value === 'string' ? value : JSON.stringify(value));
  };
  switch (by) {
    case 'day':
      return day;
    case 'month':
      return (order) => day(order)?.slice(0, 7);
    case 'retailer':
      return (order) => short(retailersOf(order, retailers).join(' + ')) || undefined;
    case 'country':
      return (order) => field('country', own(order, 'shipping_address'))?.toUpperCase();
    case 'po':
      return (order) => field('po_number', order);
    case 'account':
      return (order) => field('retailer_credentials_id', order);
    default: {
      const key = by.slice('metadata.'.length);
      return (order) => field(key, own(order, 'metadata'));
    }
  }
}

const short = (text: string): string =>
  text.length > maxNameLength ? `${text.slice(0, maxNameLength)}…` : text;

/** The period in which the orders of a report were created, ISO 8601 in UTC. */
export interface Span {
  /** Inclusive. */
  readonly since?: string;
  /** First moment after the period. */
  readonly before?: string;
}

const dayMs = 24 * 3600 * 1000;
const dayShape = /^(\d{4})-(\d\d)-(\d\d)$/;
const monthShape = /^(\d{4})-(\d\d)$/;

/**
 * Parses `--since` and `--until`. A day or month in the given time zone is included as a whole. Therefore
 * `--until 2026-11-30` and `--until 2026-11` both reach to the end of November. A time of day is an exact moment. Pure.
 * @param now is in ms since the epoch.
 * @throws UsageError naming the flag.
 */
export function spanOf(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  timeZone: string,
  now: number,
): Span {
  const first = since === undefined ? undefined : edgesOf(since, '--since', timeZone, now)[0];
  const end = until === undefined ? undefined : edgesOf(until, '--until', timeZone, now)[1];
  if (first !== undefined && end !== undefined && first >= end)
    throw new UsageError(`--until ${until} ends before --since ${since} begins`);
  return {
    ...(first !== undefined && { since: new Date(first).toISOString() }),
    ...(end !== undefined && { before: new Date(end).toISOString() }),
  };
}

/** The first moment of the named period, and the first moment after it. */
function edgesOf(text: string, flag: string, timeZone: string, now: number): readonly [number, number] {
  const dateAt = datesIn(timeZone);
  const named = dayNamed(text.trim(), now, dateAt);
  const month = monthShape.exec(named);
  if (month) {
    const [year, number] = [Number(month[1]), Number(month[2])];
    if (number < 1 || number > 12) throw new UsageError(`${flag}: there is no ${text}`);
    return [beginOf(Date.UTC(year, number - 1), dateAt), beginOf(Date.UTC(year, number), dateAt)];
  }
  const at = Date.parse(parseDate(named, flag, now, monthForm));
  if (!dayShape.test(named)) return [at, at];
  return [beginOf(at, dateAt), beginOf(at + dayMs, dateAt)];
}

function dayNamed(text: string, now: number, dateAt: (moment: number) => string): string {
  if (text === 'today') return dateAt(now);
  if (text !== 'yesterday') return text;
  return new Date(Date.parse(dateAt(now)) - dayMs).toISOString().slice(0, 10);
}
