import { trimSlashes } from '../../../platform/net/urls.ts';
import { isTestSlug, type TestSlug } from './test-products.ts';

const loopback = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The test product that a product URL names, or null. Recognised at the shop's own address, and by the same
 * path at any loopback host and port: the sandbox runs embedded and on ports chosen at start.
 */
export function slugOf(url: string, shopUrl: string): TestSlug | null {
  if (url.length > longestKnown) return readSlug(url, shopUrl);
  const slugs = slugsOf(shopUrl);
  const known = slugs.get(url);
  if (known !== undefined) return known;
  const slug = readSlug(url, shopUrl);
  if (slugs.size >= mostKnown) slugs.clear();
  slugs.set(url, slug);
  return slug;
}

/** What was read of URLs, by shop: an order's are looked at several times, and many orders are for the same. */
const shops = new Map<string, Map<string, TestSlug | null>>();
const [mostKnown, longestKnown] = [1_000, 1_000];

function slugsOf(shopUrl: string): Map<string, TestSlug | null> {
  const known = shops.get(shopUrl);
  if (known) return known;
  if (shops.size >= mostShops) shops.clear();
  const slugs = new Map<string, TestSlug | null>();
  shops.set(shopUrl, slugs);
  return slugs;
}
const mostShops = 10;

function readSlug(url: string, shopUrl: string): TestSlug | null {
  if (!URL.canParse(url) || !URL.canParse(shopUrl)) return null;
  const page = new URL(url);
  const shop = new URL(shopUrl);
  if (page.origin !== shop.origin && !loopback.test(page.hostname)) return null;
  const folder = `${trimSlashes(shop.pathname)}/`;
  if (!page.pathname.startsWith(folder)) return null;
  const slug = trimSlashes(page.pathname.slice(folder.length));
  return isTestSlug(slug) ? slug : null;
}
