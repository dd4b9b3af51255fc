import { own, textIn } from '../../api/json.ts';
import type { Row } from '../../format/result.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { decoded, isUrl } from '../../platform/net/urls.ts';
import type { Context } from '../../run/context.ts';
import type { Argument } from '../../run/option.ts';

/** A product, identified by the id that the retailer uses for it. */
interface ProductName {
  readonly productId: string;
  /** Undefined if unknown. */
  readonly retailer: string | undefined;
}

/** Argument of every command that reads a single product. */
export const productArgument = {
  name: 'id',
  names: 'products',
  description: "the retailer's product id, the URL of its page, or the number of its row (@2)",
  required: true,
} as const satisfies Argument;

/**
 * Facts that are stored for a listed product. With them, the number of its row and its title can be resolved.
 * @param retailer is the retailer of the whole list.
 */
export const productFacts =
  (retailer?: string) =>
  (row: Row): Readonly<Record<string, unknown>> => ({
    listing: row.id,
    url: row.url,
    title: row.title ?? row.name,
    product_id: row.product_id,
    retailer: row.retailer ?? retailer,
  });

const listingId = /^[A-Za-z0-9]+_sku_[A-Za-z0-9]+$/;

/**
 * Resolves a product from a row of the last list, the URL of a page, or the retailer's own id. If the retailer of a URL
 * is not known, asks the service for it.
 * @throws UsageError for a URL without an id, or for the id of a listing, which retailers do not know.
 */
export async function namedProduct(
  context: Context,
  text: string,
  retailer: string | undefined,
): Promise<ProductName> {
  const facts = context.rowFacts.get(text);
  if (retailer !== undefined && facts?.retailer !== undefined && !isSame(retailer, facts.retailer))
    throw otherRetailer(retailer, text, facts.retailer);
  const known = retailer ?? facts?.retailer;
  if (facts?.product_id !== undefined) return { productId: facts.product_id, retailer: known };
  if (listingId.test(text))
    throw new UsageError(
      `${text} is the id of a listing; retailers have ids of their own: give the URL that stands beside it`,
    );
  if (!isUrl(text) || !/^https?:/i.test(text)) return { productId: text, retailer: known };
  const productId = idInUrl(text);
  if (retailer !== undefined) await checkRetailer(context, text, retailer);
  return { productId, retailer: known ?? (await retailerOf(context, text)) };
}

const isSame = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

const otherRetailer = (given: string, page: string, retailer: string): UsageError =>
  new UsageError(`--retailer is ${given}, and ${page} is of ${retailer}; leave --retailer out`);

/**
 * @throws UsageError if the page belongs to another retailer according to the service. The product id would then be
 * wrong.
 */
async function checkRetailer(context: Context, url: string, given: string): Promise<void> {
  if (context.previewsReads) return;
  const found = await retailerAt(context, url).catch((error: unknown) => {
    // If the lookup fails, trust the given retailer.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
  });
  const names = ['retailer', 'brand', 'display_name'].map((field) => textIn(found, field));
  const [retailer] = names;
  if (retailer === undefined || names.some((name) => name !== undefined && isSame(name, given))) return;
  throw otherRetailer(given, url, retailer);
}

/**
 * Extracts the product id from the URL of a page (specification, Products). The id is the numeric listing id if the
 * path has exactly one, else the last path segment.
 */
function idInUrl(url: string): string {
  const segments = new URL(url).pathname.split('/').filter((segment) => segment !== '');
  const numbers = segments.filter((segment) => /^\d{6,}$/.test(segment));
  const id = numbers.length === 1 ? numbers[0] : segments.at(-1);
  if (id !== undefined) return decoded(id);
  throw new UsageError(`${url} names no product; give the URL of a product's own page, or its id`);
}

async function retailerOf(context: Context, url: string): Promise<string> {
  if (context.previewsReads) throw new UsageError('--retailer is missing: with --curl nothing is looked up');
  const retailer = textIn(await retailerAt(context, url), 'retailer');
  if (retailer !== undefined) return retailer;
  throw new UsageError(
    `--retailer is missing: the service knows no retailer at ${new URL(url).host}; \`errand retailer list -o id\` prints those it knows`,
  );
}

/** What the service knows about the retailer of a page URL. */
async function retailerAt(context: Context, url: string): Promise<unknown> {
  const client = await context.client();
  const { body } = await client.call('retailer.check', { query: { url } });
  return own(body, 'retailer');
}
