import { isUrl, trimSlashes } from '../../platform/net/urls.ts';
import type { RetailerKind } from './retailers.ts';
import { type Retailer, retailerOf } from './retailers.ts';

/** Identifies a variant: a listing number (from 1) and the variant's index. */
export interface ListingRef {
  readonly number: number;
  readonly variant: number;
}

/**
 * Encodes and decodes the product ids of a kind of retailer. Storefronts have no such form, because all variants of a
 * product share the product's handle as their id.
 */
type Form = { write(code: number): string; read(id: string): number | undefined };

/** Size of the code range reserved for one listing's variants. */
const variantsEach = 64;

/**
 * An odd factor and its inverse modulo 2^32. Multiplying by the factor scatters consecutive numbers. Multiplying by the
 * inverse restores the numbers.
 */
const productSpread = { factor: 0x9e3779b1, inverse: 0x0e8b2f51 };
const skuSpread = { factor: 0x85ebca6b, inverse: 0xa5cb9243 };

const decimal = (first: number): Form => ({
  write: (code) => String(first + code),
  read: (id) => (/^\d{10,14}$/.test(id) ? Number(id) - first : undefined),
});

const letters = (start: string, length: number): Form => ({
  write: (code) => start + code.toString(36).toUpperCase().padStart(length, '0'),
  read: (id) =>
    id.length === start.length + length && id.startsWith(start) && /^[0-9A-Z]+$/.test(id)
      ? Number.parseInt(id.slice(start.length), 36)
      : undefined,
});

/** Product id format for each kind of retailer. */
const forms: Readonly<Record<Exclude<RetailerKind, 'storefront'>, Form>> = {
  general: decimal(2_000_000_000),
  marketplace: letters('B0', 8),
  electronics: letters('J', 7),
  handmade: decimal(1_000_000_000),
  plain: decimal(5_000_000_000),
};
const variantForm = decimal(40_000_000_000_000);

/** @param name product name; a storefront's handle is derived from it. */
export function productIdOf(kind: RetailerKind, ref: ListingRef, name: string): string {
  return kind === 'storefront' ? `${slugOf(name)}-${ref.number}` : forms[kind].write(codeOf(ref));
}

/** Decodes a product id, even if no listing has the decoded number. */
export function refOf(kind: RetailerKind, id: string): ListingRef | undefined {
  if (kind !== 'storefront') return decoded(forms[kind].read(id));
  const number = /-(\d{1,7})$/.exec(id)?.[1];
  return number === undefined ? undefined : { number: Number(number), variant: 0 };
}

/** The id of a product variant at a hosted storefront. */
export const variantIdOf = (ref: ListingRef): string => variantForm.write(codeOf(ref));
export const refOfVariant = (id: string): ListingRef | undefined => decoded(variantForm.read(id));

/** The part of a listing id that follows the prefix. */
export const skuOf = (number: number): string =>
  (Math.imul(number, skuSpread.factor) >>> 0).toString(36).padStart(7, '0');

/** Decodes the listing number from a listing id. */
export function numberOfSku(sku: string): number | undefined {
  if (!/^[0-9a-z]{7}$/.test(sku)) return undefined;
  return Math.imul(Number.parseInt(sku, 36), skuSpread.inverse) >>> 0;
}

const slugOf = (title: string): string =>
  title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

const codeOf = ({ number, variant }: ListingRef): number =>
  Math.imul(number * variantsEach + variant, productSpread.factor) >>> 0;

function decoded(code: number | undefined): ListingRef | undefined {
  if (code === undefined || code < 0 || code > 0xffffffff) return undefined;
  const plain = Math.imul(code, productSpread.inverse) >>> 0;
  return { number: Math.floor(plain / variantsEach), variant: plain % variantsEach };
}

interface PageForm {
  readonly write: (id: string, slug: string) => string;
  /** Extracts the product id from the path of a product page. */
  readonly read: RegExp;
}

/** URL format of product pages, per retailer kind. */
const pageForms: Readonly<Record<RetailerKind, PageForm>> = {
  general: { write: (id, slug) => `/p/${slug}/${id}`, read: /^\/p\/(?:[^/]+\/)?([^/]+)$/ },
  marketplace: { write: (id) => `/dp/${id}`, read: /\/dp\/([^/]+)(?:\/|$)/ },
  electronics: { write: (id, slug) => `/product/${slug}/${id}`, read: /^\/product\/(?:[^/]+\/)?([^/]+)$/ },
  handmade: { write: (id, slug) => `/listing/${id}/${slug}`, read: /^\/listing\/([^/]+)(?:\/|$)/ },
  storefront: { write: (id) => `/products/${id}`, read: /\/products\/([^/]+)$/ },
  plain: { write: (id) => `/item/${id}`, read: /^\/item\/([^/]+)$/ },
};

/** URL of a product's page. */
export const pageOf = ({ host, kind }: Retailer, productId: string, title: string): string =>
  `https://${host}${pageForms[kind].write(productId, slugOf(title))}`;

interface ProductPage {
  readonly retailer: Retailer;
  readonly productId: string;
  /** Variant selected in a storefront page's URL. */
  readonly variantId: string | null;
}

/** Parses a product page's URL; ignores query, fragment, trailing slash and slug. */
export function readPage(url: string): ProductPage | undefined {
  const retailer = retailerOf(url);
  if (!retailer) return undefined;
  const { pathname, searchParams } = new URL(url);
  const productId = pageForms[retailer.kind].read.exec(trimSlashes(pathname))?.[1];
  return productId === undefined
    ? undefined
    : { retailer, productId, variantId: searchParams.get('variant') };
}

/** The listing id, without its prefix, from a plain id or the end of a URL's path. */
export function readSku(text: string, prefix: string): string | undefined {
  const last = isUrl(text) ? trimSlashes(new URL(text).pathname).split('/').at(-1) : text;
  const start = `${prefix}_sku_`;
  return last?.startsWith(start) ? last.slice(start.length) : undefined;
}
