import type { Filled } from './sort.ts';

/** One shop of the handmade marketplace. */
export interface Shop {
  readonly name: string;
  /** On vacation: nothing of it can be ordered. */
  readonly isAway?: boolean;
  /** Over the past year only; the average is null for an unrated shop. */
  readonly reviews: { readonly average: number | null; readonly count: number };
}

export const shops: Filled<Shop> = [
  { name: 'Clay & Fern Studio', reviews: { average: 4.9, count: 412 } },
  { name: 'Atelier Petite Forêt', reviews: { average: 4.7, count: 95 } },
  { name: 'The Knotted Thread', reviews: { average: 4.4, count: 31 } },
  { name: 'Juniper Lane Crafts', reviews: { average: 4.8, count: 208 }, isAway: true },
  { name: 'Blue Door Pottery', reviews: { average: null, count: 0 } },
  { name: 'Honeycomb ✿ Paper', reviews: { average: 5, count: 1204 } },
  { name: 'Rivet and Reed', reviews: { average: 3.9, count: 12 } },
  { name: 'Señora Lana', reviews: { average: 4.6, count: 660 } },
];

export const shopNamed = (name: string): Shop | undefined => shops.find((it) => it.name === name);
