import type { Listing } from './listing.ts';

const each = 3;

/** Addresses of a listing's pictures under a base without a trailing slash; the first is the main one. */
export const imagesOf = ({ seller, sku }: Listing, base: string): [string, ...string[]] => {
  const picture = (place: number): string => `${base}/${seller.retailer}/${sku}-${place}.jpg`;
  return [picture(1), ...Array.from({ length: each - 1 }, (_, index) => picture(index + 2))];
};
