import { type JsonObject, listIn, own, textIn } from '../../api/json.ts';
import type { PlanProduct } from '../../api/schemas/plan-file.ts';
import { plainText } from '../../format/path.ts';
import { ErrandError } from '../../platform/errors.ts';
import { isUrl } from '../../platform/net/urls.ts';
import type { Context } from '../../run/context.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';

/** A product page that rows order from, and the destination countries of these rows. */
export interface ProductQuery {
  readonly url: string;
  readonly countries: ReadonlySet<string>;
}

/** Maximum number of concurrent requests. */
const maxInFlight = 4;
/** Maximum age of a price, in seconds. */
const maxAgeSeconds = 3600;

/**
 * Looks up each product page once. Finds its retailer, whether it can be ordered and, if `prices` is set, its current
 * price. Whatever the service does not know stays unknown. @throws ErrandError if the service is unreachable.
 */
export async function queryProducts(
  context: Context,
  queries: readonly ProductQuery[],
  { prices }: { readonly prices: boolean },
): Promise<Map<string, PlanProduct>> {
  const found = new Map<string, PlanProduct>();
  const progress = await context.progress({
    label: prices ? 'looking up products and prices' : 'looking up products',
    total: queries.length,
    unit: 'products',
    now: context.clock.monotonic,
  });
  async function* eachQuery() {
    yield* queries;
  }
  try {
    const looked = inFlight(eachQuery(), (one) => queryProduct(context, one, prices), {
      limit: maxInFlight,
      now: context.clock.monotonic,
    });
    for await (const product of looked) {
      found.set(product.url, product);
      progress.update(found.size);
    }
  } finally {
    progress.end();
  }
  return found;
}

async function queryProduct(
  context: Context,
  { url, countries }: ProductQuery,
  prices: boolean,
): Promise<PlanProduct> {
  context.signal.throwIfAborted();
  const [only] = countries;
  const country = countries.size === 1 && only !== undefined ? only : null;
  const client = await context.client();
  const check = await orUndefined(async () => {
    const query = { url, ...(country !== null && { country }) };
    return (await client.call('retailer.check', { query })).body;
  });
  const retailer = textIn(own(check, 'retailer'), 'retailer') ?? null;
  const orderable = own(check, 'orderable');
  const ships = own(check, 'ships_to');
  const known = {
    url,
    country,
    domain: textIn(check, 'domain') ?? null,
    retailer,
    orderable: typeof orderable === 'boolean' ? orderable : null,
    unsupported_reason: textIn(check, 'unsupported_reason') ?? null,
    ships_to: Array.isArray(ships) ? listIn(check, 'ships_to').map(plainText) : null,
  };
  if (!prices) return { ...known, ...unpriced('prices were not asked for') };
  // If a store is on a hosted platform, its domain identifies it (specification, Products).
  const seller = textIn(check, 'platform') === undefined ? retailer : known.domain;
  const id = productIdIn(url);
  if (seller === null || id === undefined)
    return { ...known, ...unpriced('the service does not know the product page') };
  return { ...known, ...(await priceOf(context, seller, id)) };
}

type Priced = Pick<PlanProduct, 'price' | 'currency' | 'no_price'>;
const unpriced = (why: string): Priced => ({ price: null, currency: null, no_price: why });

async function priceOf(context: Context, retailer: string, id: string): Promise<Priced> {
  const client = await context.client();
  let reason = '';
  const payload = await orUndefined(
    async () => {
      const query = { retailer, max_age: maxAgeSeconds };
      return (await client.call('product.get', { path: { product_id: id }, query })).body;
    },
    (error) => {
      reason = error.message;
    },
  );
  if (payload === undefined) return unpriced(reason);
  if (textIn(payload, 'status') !== 'completed')
    return unpriced(textIn(payload, 'message') ?? 'the retailer did not respond');
  const price = cheapest(payload);
  if (price === undefined || (textIn(payload, 'product_id') ?? id) !== id)
    return unpriced('the retailer names no price');
  const currency = textIn(payload, 'currency_code')?.toUpperCase() ?? 'USD';
  return { price, currency, no_price: currency === 'USD' ? null : `its price is in ${currency}` };
}

/** Price of a product. If only its variants have prices, it is the price of the cheapest variant. */
function cheapest(payload: JsonObject): number | undefined {
  const price = centsIn(payload);
  if (price !== undefined) return price;
  const prices = listIn(payload, 'variants').flatMap((variant) => centsIn(variant) ?? []);
  return prices.length === 0 ? undefined : Math.min(...prices);
}

function centsIn(record: unknown): number | undefined {
  const price = own(record, 'price');
  return typeof price === 'number' && Number.isSafeInteger(price) && price >= 0 ? price : undefined;
}

/**
 * Returns undefined if the service answers that it does not know. If the service does not answer, rethrows the error,
 * because a plan needs an answer.
 */
async function orUndefined(
  read: () => Promise<JsonObject>,
  report: (error: ErrandError) => void = () => {},
): Promise<JsonObject | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const hasResponded = error.facts.status !== undefined || error.facts.outcome === 'rejected';
    if (error.category === 'authentication' || !hasResponded) throw error;
    report(error);
    return undefined;
  }
}

/**
 * Extracts the retailer's product id from the URL of a page, in the forms that the specification gives. This is the
 * last path segment that looks like an id, or else the last segment, such as a store handle. Returns undefined if the
 * URL has no path. Pure.
 */
export function productIdIn(url: string): string | undefined {
  if (!isUrl(url)) return undefined;
  const parts = new URL(url).pathname.split('/').filter((part) => part !== '');
  return parts.findLast((part) => /^(?=.*\d)[A-Z0-9]{7,}$/.test(part)) ?? parts.at(-1);
}
