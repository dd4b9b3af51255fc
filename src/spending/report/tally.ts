import { type MoneyLine, type MoneySum, type Payer, tooMuch } from '../money-lines.ts';
import { moneyOf } from '../money-of-order.ts';
import type { GroupOf } from './groups.ts';

/** What the orders of a group came to, of one payer in one currency. */
export interface SpendRow {
  /** Undefined where the orders say nothing of it. */
  readonly group: string | undefined;
  readonly paidBy: Payer;
  readonly currency: string;
  /** How many of the orders this payer pays the goods of. */
  orders: number;
  /** What goods, shipping and tax cost; minor units of the currency, like all that follows. */
  spent: number;
  fees: number;
  refunded: number;
  credited: number;
  /** What it cost in the end: spent and fees, less refunded and credited. */
  net: number;
  held: number;
  /** Of which of the amounts a part at least follows from the service's rules alone. */
  readonly byRule: Set<MoneyLine['what']>;
}

/** Groups that are told apart; what comes after them is one more, so that memory does not grow with the orders. */
const mostGroups = 10_000;
export const otherGroups = '(others)';

/** Adds up orders as they come. Memory grows with the groups, not with the orders. */
export class Tally {
  readonly #groupOf: GroupOf;
  readonly #feeCents: number | undefined;
  readonly #groups = new Map<string | undefined, Map<string, SpendRow>>();
  orders = 0;
  /** Orders of which an amount is not known. */
  incomplete = 0;

  constructor(groupOf: GroupOf, feeCents: number | undefined) {
    this.#groupOf = groupOf;
    this.#feeCents = feeCents;
  }

  /** @throws UnavailableError for amounts that no number holds. */
  add(order: unknown): void {
    const { payer, lines, sums, isComplete } = moneyOf(order, { feeCents: this.#feeCents });
    const named = this.#groupOf(order);
    const isOther = !this.#groups.has(named) && this.#groups.size >= mostGroups;
    const group = isOther ? otherGroups : named;
    this.orders += 1;
    if (!isComplete) this.incomplete += 1;
    const own = sums.find((sum) => sum.payer === payer);
    this.#row(group, payer, own?.currency ?? 'USD').orders += 1;
    for (const sum of sums) enter(this.#row(group, sum.payer, sum.currency), sum);
    for (const { what, basis, payer: of, currency } of lines)
      if (basis === 'by_rule') this.#row(group, of, currency).byRule.add(what);
  }

  /** By time where the groups are days or months, else the most expensive first. */
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

/** What all rows of a payer and a currency come to: payers and currencies are never added to each other. Pure. */
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
