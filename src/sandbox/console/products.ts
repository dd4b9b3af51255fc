import { parseUrl } from '../../platform/net/urls.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { slugOf, testProducts } from '../orders/lifecycle/index.ts';
import type { Service } from '../server/service.ts';

/** Returns the title of the product at a URL, or the last part of the URL's path if the product is unknown. */
export type TitleOf = (url: string) => string;

/** Catalogues loaded so far. A page can read titles from a loaded catalogue without waiting. */
const loaded = new WeakMap<Service, Catalogue>();

/**
 * Loads what `titlesNow` needs. The catalogue is needed only if an order is for a shop other than the sandbox's own.
 */
export async function loadTitles(service: Service): Promise<void> {
  const { store, config } = service;
  const isElsewhere = store.cached('hosts elsewhere', () =>
    store.get('SELECT 1 FROM order_hosts WHERE host <> ? LIMIT 1', new URL(config.shopUrl).host),
  );
  if (isElsewhere !== undefined) loaded.set(service, await service.catalogue());
}

/**
 * Reads titles of products without loading anything. If the catalogue is not loaded, only products of the sandbox's own
 * shop have a title.
 */
export const titlesNow =
  (service: Service): TitleOf =>
  (url) =>
    shopTitle(service, url) ?? loaded.get(service)?.byUrl(url)?.title ?? lastPart(url);

/** Joins the titles of an order's products, for a heading. */
export function orderTitle(
  titleOf: TitleOf,
  items: readonly { readonly url: string; readonly quantity: number }[],
): string {
  const named = items
    .slice(0, maxNamed)
    .map(({ url, quantity }) => `${quantity > 1 ? `${quantity} × ` : ''}${titleOf(url)}`);
  const more = items.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Maximum number of order lines shown by name. Further lines are only counted. */
const maxNamed = 4;

function shopTitle({ config }: Pick<Service, 'config'>, url: string): string | undefined {
  const slug = slugOf(url, config.shopUrl);
  return slug === null ? undefined : testProducts[slug].name;
}

/** Reads titles of products. Loads the catalogue only if a product is not from the sandbox's own shop. */
export async function titlesOf(
  { config, catalogue }: Pick<Service, 'config' | 'catalogue'>,
  urls: Iterable<string>,
): Promise<TitleOf> {
  const ofShop = (url: string): string | undefined => shopTitle({ config }, url);
  const isElsewhere = [...urls].some((url) => ofShop(url) === undefined);
  const listings = isElsewhere ? await catalogue() : undefined;
  return (url) => ofShop(url) ?? listings?.byUrl(url)?.title ?? lastPart(url);
}

function lastPart(url: string): string {
  const parsed = parseUrl(url);
  if (!parsed) return url;
  const { hostname, pathname } = parsed;
  return pathname.split('/').findLast((part) => part !== '') ?? hostname;
}
