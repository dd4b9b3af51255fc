import { type Draw, drawFor } from './schedule.ts';
import { slugOf, type TestProduct, testFacts, testProductOf, testProducts } from './test-products.ts';
import type { LineFacts, OrderEnvironment, OrderItem, OrderRecord } from './types.ts';

/** A product line with everything known about it. */
export interface OrderLine {
  readonly index: number;
  readonly item: OrderItem;
  readonly facts: LineFacts;
  /** The test product to which the line corresponds; null if there is none. */
  readonly test: TestProduct | null;
}

/** Price range, in US cents, of products without a catalogue listing. */
const inventedPrice = { min: 500, max: 12_000 };
/**
 * Share of the remaining ceiling that a product without a listing may cost. The share stays below 1, so that part of
 * the reserved money is released.
 */
const usedShare = { min: 0.6, max: 0.98 };
/** Minimum amount, in US cents, by which `test-price-exceeded` exceeds the ceiling. */
const priceRise = 1_000;

export function linesOf(record: OrderRecord, environment: OrderEnvironment): OrderLine[] {
  const draw = drawFor(environment.seed, record.id);
  const known = record.items.map((item, index) => {
    const slug = slugOf(item.url, environment.config.shopUrl);
    if (slug === null) return rehearsing(environment.lines[index] ?? null, record.max_price);
    const test: TestProduct = testProducts[slug];
    return { test, facts: risen(testFacts(slug), test, record.max_price) };
  });
  const left = record.max_price - knownCost(record, known);
  const invented = known.reduce((sum, { facts }, index) => sum + (facts ? 0 : quantity(record, index)), 0);
  return record.items.map((item, index) => ({
    index,
    item,
    test: known[index]?.test ?? null,
    facts: known[index]?.facts ?? inventedFacts(item.url, Math.max(0, left) / invented, draw, index),
  }));
}

/** If a listing has an outcome, makes it behave like the test product for that outcome. */
function rehearsing(
  facts: LineFacts | null,
  ceiling: number,
): Pick<OrderLine, 'test'> & { facts: LineFacts | null } {
  const test = facts?.outcome === undefined ? undefined : testProductOf(facts.outcome);
  if (!facts || !test) return { test: null, facts };
  return { test, facts: risen({ ...facts, ...test.facts }, test, ceiling) };
}

const quantity = (record: OrderRecord, index: number): number => record.items[index]?.quantity ?? 0;

function risen(facts: LineFacts, test: TestProduct, ceiling: number): LineFacts {
  if (test.fails !== 'max_price_exceeded') return facts;
  return { ...facts, priceCents: Math.max(facts.priceCents, wholeCents(ceiling + priceRise)) };
}

function knownCost(record: OrderRecord, known: readonly { facts: LineFacts | null }[]): number {
  const cost = known.map(({ facts }, index) => {
    if (!facts) return 0;
    const unit = chargedInUsd(facts.priceCents, facts.currency);
    return unit * quantity(record, index) + chargedInUsd(facts.shippingCents ?? 0, facts.currency);
  });
  return cost.reduce((sum, part) => sum + part, 0);
}

/**
 * Generates facts for an unlisted product. The price is random, but no higher than the amount that the ceiling allows
 * for one unit.
 */
function inventedFacts(url: string, affordable: number, draw: Draw, index: number): LineFacts {
  const between = ({ min, max }: { min: number; max: number }, name: string) =>
    min + draw.fraction(`${name} ${index}`) * (max - min);
  const price = between(inventedPrice, 'price');
  const { hostname, pathname } = new URL(url);
  const name = pathname.split('/').filter(Boolean).at(-1) ?? hostname;
  return {
    retailer: hostname,
    productId: name,
    title: name.replaceAll(/[-_+]+/g, ' '),
    priceCents: Math.floor(Math.min(price, affordable * between(usedShare, 'share'))),
    currency: paymentCurrency,
    available: true,
    giftOption: true,
  };
}

/** Fixed exchange rates: US cents per 10,000 minor units of a currency. */
const usdPerTenThousand: Readonly<Record<string, number>> = { USD: 10_000, EUR: 10_850, GBP: 12_700 };
/** Card network markup on a converted payment, in basis points. */
const conversionMarkup = 250;

export const paymentCurrency = 'USD';

/** Rounds to whole cents and clamps to the safe integer range, even for absurd quantities. */
export const wholeCents = (amount: number): number => Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER);

/** US cents charged for an amount in another currency's minor units, including the conversion markup. */
export function chargedInUsd(amount: number, currency: string): number {
  if (currency === paymentCurrency) return amount;
  const rate = usdPerTenThousand[currency] ?? 10_000;
  return wholeCents((amount * rate * (10_000 + conversionMarkup)) / 1e8);
}

/** Formats an amount for messages: `1999, USD` as `19.99 USD`. */
export const spokenAmount = (cents: number, currency: string): string =>
  `${(cents / 100).toFixed(2)} ${currency}`;
