import { trimSlashes } from '../../platform/network/trim-slashes.ts';
import type { RetailerKind } from './kinds.ts';
import { slugOf } from './product-id.ts';
import { type Retailer, retailerOf } from './retailers.ts';

interface PageForm {
  readonly write: (id: string, slug: string) => string;
  /** Finds the id in a path; the rest of the path says nothing. */
  readonly read: RegExp;
}

/** How each kind of retailer addresses the page of a product. */
const pageForms: Readonly<Record<RetailerKind, PageForm>> = {
  general: { write: (id, slug) => `/p/${slug}/${id}`, read: /^\/p\/(?:[^/]+\/)?([^/]+)$/ },
  marketplace: { write: (id) => `/dp/${id}`, read: /\/dp\/([^/]+)(?:\/|$)/ },
  electronics: { write: (id, slug) => `/product/${slug}/${id}`, read: /^\/product\/(?:[^/]+\/)?([^/]+)$/ },
  handmade: { write: (id, slug) => `/listing/${id}/${slug}`, read: /^\/listing\/([^/]+)(?:\/|$)/ },
  storefront: { write: (id) => `/products/${id}`, read: /\/products\/([^/]+)$/ },
  plain: { write: (id) => `/item/${id}`, read: /^\/item\/([^/]+)$/ },
};

/** The address of a product's page. */
export const pageOf = ({ host, kind }: Retailer, productId: string, title: string): string =>
  `https://${host}${pageForms[kind].write(productId, slugOf(title))}`;

interface ProductPage {
  readonly retailer: Retailer;
  readonly productId: string;
  /** The variant that a storefront's page was opened with. */
  readonly variantId: string | null;
}

/** What a product page's URL names; its query, fragment, trailing slash and slug may be anything. */
export function readPage(url: string): ProductPage | undefined {
  const retailer = retailerOf(url);
  if (!retailer) return undefined;
  const { pathname, searchParams } = new URL(url);
  const productId = pageForms[retailer.kind].read.exec(trimSlashes(pathname))?.[1];
  return productId === undefined
    ? undefined
    : { retailer, productId, variantId: searchParams.get('variant') };
}

/** The listing id, without its prefix, that a text is or that a URL's path ends with. */
export function readSku(text: string, prefix: string): string | undefined {
  const last = URL.canParse(text) ? trimSlashes(new URL(text).pathname).split('/').at(-1) : text;
  const start = `${prefix}_sku_`;
  return last?.startsWith(start) ? last.slice(start.length) : undefined;
}
