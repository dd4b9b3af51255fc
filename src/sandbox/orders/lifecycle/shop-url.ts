import { trimSlashes } from '../../../network/trim-slashes.ts';
import { isTestSlug, type TestSlug } from './test-products.ts';

const loopback = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The test product that a product URL names, or null. Recognised at the shop's own address, and by the same
 * path at any loopback host and port: the sandbox runs embedded and on ports chosen at start.
 */
export function slugOf(url: string, shopUrl: string): TestSlug | null {
  if (!URL.canParse(url) || !URL.canParse(shopUrl)) return null;
  const page = new URL(url);
  const shop = new URL(shopUrl);
  if (page.origin !== shop.origin && !loopback.test(page.hostname)) return null;
  const folder = `${trimSlashes(shop.pathname)}/`;
  if (!page.pathname.startsWith(folder)) return null;
  const slug = trimSlashes(page.pathname.slice(folder.length));
  return isTestSlug(slug) ? slug : null;
}
