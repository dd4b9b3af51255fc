import type { Shape } from '../../api/schemas/index.ts';
import type { Column } from '../../format/result.ts';
import { stock } from './stock.ts';

/** A listing found across retailers. */
export const listingColumns: readonly Column<Shape<'Sku'>>[] = [
  { name: 'title', path: 'title', weight: 9, least: 24 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 10 },
  { name: 'retailer', path: 'retailer', kind: 'id', weight: 7 },
  { name: 'stars', path: 'stars', weight: 4 },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3 },
  { name: 'free shipping', path: 'free_shipping', kind: 'flag', weight: 2 },
  { name: 'available', path: 'available', kind: 'flag', weight: 1 },
  { name: 'url', path: 'url', kind: 'url', names: 'products', weight: 8 },
];

/** Listings on a terminal: their titles tell them apart. */
const listingScreen: readonly Column<Shape<'Sku'>>[] = [
  { name: 'title', path: 'title', weight: 11 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 10 },
  { name: 'retailer', path: 'retailer', kind: 'id', weight: 7 },
  stock,
  { name: 'stars', path: 'stars', weight: 4, isExtra: true },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3, isExtra: true },
  { name: 'url', path: 'url', kind: 'url', weight: 8, isExtra: true },
];

/** Listings as a list, for scripts and for a terminal. */
export const listingList = { columns: listingColumns, screen: listingScreen } as const;

/** What a search adds to its results. */
export function searchHints(excluded: number | undefined, hint: string | undefined): string[] {
  const dropped = excluded ? [`${excluded} more outside the price bounds`] : [];
  return hint ? [...dropped, hint] : dropped;
}
