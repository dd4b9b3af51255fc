import { isObject, objectsIn, own, textIn } from '../../api/json.ts';
import type { PlanProduct, PlanTotal } from '../../api/schemas/plan-file.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { hostOf } from '../../spending/policy/policy.ts';

/** A row as the totals need it. Amounts are in cents. */
export interface TotalledRow {
  readonly order: object;
  /**
   * The different sellers of the row's products. A seller is named by the retailer's name, or by the host if the name
   * is unknown.
   */
  readonly sellers: readonly string[];
  readonly price_cents: number | null;
}

interface Terms {
  readonly feeCents: number;
  /** Day that the orders count toward. */
  readonly day: string;
}

/**
 * Maximum number of distinct values of a metadata key. A key with more values identifies single orders, so orders are
 * not grouped by it.
 */
export const maxValues = 200;

/**
 * Totals by retailer, country, day and metadata key, largest first. A retailer is identified by name, or else by host.
 * An order from several retailers counts in full for each of them. Pure. @param limit is the maximum number of distinct
 * values per key.
 */
export function totalsOf(rows: readonly TotalledRow[], terms: Terms, limit = maxValues): PlanTotal[] {
  const groups = new Map<string, Map<string, PlanTotal>>();
  for (const row of rows)
    for (const [by, value] of groupsOf(row, terms.day)) {
      const group = groups.get(by) ?? new Map<string, PlanTotal>();
      groups.set(by, group);
      const before = group.get(value) ?? emptyTotal(by, value);
      group.set(value, added(before, row, terms.feeCents));
    }
  return [...groups.values()]
    .filter((group) => group.size <= limit)
    .flatMap((group) => [...group.values()].sort((a, b) => b.ceilings_cents - a.ceilings_cents));
}

function groupsOf({ order, sellers }: TotalledRow, day: string): (readonly [by: string, value: string])[] {
  const country = textIn(own(order, 'shipping_address'), 'country') ?? '';
  const metadata = own(order, 'metadata');
  return [
    ...sellers.map((name) => ['retailer', name] as const),
    ['country', country],
    ['day', day],
    ...Object.entries(isObject(metadata) ? metadata : {}).map(
      ([key, value]) => [`metadata.${key}`, String(value)] as const,
    ),
  ];
}

/**
 * The different sellers of an order's products. A seller is named by the retailer's name, or by the host if the name is
 * unknown.
 */
export function sellersOf(order: object, products: ReadonlyMap<string, PlanProduct>): string[] {
  const urls = objectsIn(order, 'products').map((line) => textIn(line, 'url') ?? '');
  return [
    ...new Set(urls.map((url) => products.get(url)?.retailer ?? products.get(url)?.domain ?? hostOf(url))),
  ];
}

/** Maximum number of groups to show per total. */
export const maxReported = 5;

/**
 * Formats `by retailer: shop.example 40 ($2,000.00), other.example 3 ($150.00), and 2 more`. @param group lists the
 * values, largest first.
 */
export function totalsText(
  by: string,
  group: readonly Pick<PlanTotal, 'value' | 'orders' | 'ceilings_cents'>[],
): string {
  const reported = group
    .slice(0, maxReported)
    .map(
      ({ value, orders, ceilings_cents: cents }) => `${value} ${countText(orders)} (${formatMoney(cents)})`,
    );
  const more = group.length - reported.length;
  return `by ${by}: ${reported.join(', ')}${more > 0 ? `, and ${countText(more)} more` : ''}`;
}

const emptyTotal = (by: string, value: string): PlanTotal => ({
  ...{ by, value, orders: 0, ceilings_cents: 0, fees_cents: 0, prices_cents: 0, unpriced: 0 },
});

function added(total: PlanTotal, { order, price_cents: price }: TotalledRow, feeCents: number): PlanTotal {
  const ceiling = own(order, 'max_price');
  return {
    ...total,
    orders: total.orders + 1,
    ceilings_cents: total.ceilings_cents + (typeof ceiling === 'number' ? ceiling : 0),
    fees_cents: total.fees_cents + feeCents,
    prices_cents: total.prices_cents + (price ?? 0),
    unpriced: total.unpriced + (price === null ? 1 : 0),
  };
}
