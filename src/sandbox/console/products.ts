import { parseUrl } from '../../platform/net/urls.ts';
import { slugOf, testProducts } from '../orders/lifecycle/index.ts';
import type { Service } from '../server/service.ts';

/** The title of a product by its URL, or the last part of its path. */
export type TitleOf = (url: string) => string;

/** Reads titles of products. Loads the catalogue only if a product is not the shop's own. */
export async function titlesOf(
  { config, catalogue }: Pick<Service, 'config' | 'catalogue'>,
  urls: Iterable<string>,
): Promise<TitleOf> {
  const ofShop = (url: string): string | undefined => {
    const slug = slugOf(url, config.shopUrl);
    return slug === null ? undefined : testProducts[slug].name;
  };
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
