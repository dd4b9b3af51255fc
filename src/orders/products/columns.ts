import { type JsonObject, objectsIn, own } from '../../api/json.ts';
import type { Mood } from '../../api/order-state.ts';
import type { Unchecked } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { plainText } from '../../format/path.ts';
import type { Column, Row } from '../../format/result.ts';
import { factsOf } from './product-facts.ts';

/** Stock column; empty if unknown. */
const stock = {
  name: 'stock',
  path: 'available',
  kind: 'status',
  weight: 6,
  value: ({ available }: { readonly available?: unknown }): string =>
    available === true ? 'in stock' : available === false ? 'sold out' : '',
  mood: ({ available }: { readonly available?: unknown }): Mood | undefined =>
    available === true ? 'good' : available === false ? 'bad' : undefined,
} as const;

type Offer = Unchecked<Shape<'Offer'>>;

const resultColumns: readonly Column<Shape<'ProductSearchResult'>>[] = [
  { name: 'product id', path: 'product_id', names: 'products', weight: 10 },
  { name: 'title', path: 'title', weight: 8, minWidth: 24 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 9 },
  { name: 'shipping', path: 'ship_price', kind: 'money', currency: 'currency_code', weight: 5 },
  { name: 'stars', path: 'stars', weight: 4 },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3 },
  { name: 'brand', path: 'brand', weight: 2 },
  { name: 'available', path: 'available', kind: 'flag', weight: 6 },
  { name: 'url', path: 'url', kind: 'url', weight: 7 },
];

/** Columns of one retailer's results on a TTY. */
const resultScreen: readonly Column<Shape<'ProductSearchResult'>>[] = [
  { name: 'product id', path: 'product_id', names: 'products', weight: 4 },
  { name: 'title', path: 'title', weight: 11 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 9 },
  { name: 'shipping', path: 'ship_price', kind: 'money', currency: 'currency_code', weight: 5 },
  {
    ...stock,
    value: (result) => (isNotForOrder(result) ? 'not for order' : stock.value(result)),
    mood: (result) => (isNotForOrder(result) ? 'bad' : stock.mood(result)),
  },
  { name: 'note', path: 'note', weight: 5, value: resultNote, isExtra: 'told', wraps: true },
  { name: 'stars', path: 'stars', weight: 4, isExtra: true },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3, isExtra: true },
  { name: 'brand', path: 'brand', weight: 2, isExtra: true },
];

type SearchResult = Unchecked<Shape<'ProductSearchResult'>>;

/** Whether the search result says that this product cannot be ordered through the service. */
const isNotForOrder = ({ buyapi_hint: hint }: SearchResult): boolean => hint === false;

/** What a buyer must know about a search result before ordering: `pre-order, ships as freight`. */
function resultNote(result: SearchResult): string {
  const { available_online, available_instore, preorder, addon, freight_shipping, fresh, pantry } = result;
  return [
    available_online === false && (available_instore === true ? 'in store only' : 'not sold online'),
    preorder === true && 'pre-order',
    addon === true && 'only with other items',
    freight_shipping === true && 'ships as freight',
    (fresh === true || pantry === true) && 'grocery',
  ]
    .filter((note) => note !== false)
    .join(', ');
}

/** A list of results, for scripts and for a TTY. */
export const resultList = { columns: resultColumns, screen: resultScreen } as const;

export const detailColumns: readonly Column<Shape<'ProductDetailsPayload'>>[] = [
  { name: 'status', path: 'status', kind: 'status', weight: 1 },
  { name: 'product id', path: 'product_id', weight: 10 },
  { name: 'retailer', path: 'retailer', weight: 9 },
  { name: 'title', path: 'title', weight: 8, minWidth: 24 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 7 },
  { name: 'available', path: 'available', kind: 'flag', weight: 6 },
  { name: 'brand', path: 'brand', weight: 5 },
  { name: 'stars', path: 'stars', weight: 4 },
  { name: 'url', path: 'url', kind: 'url', weight: 3 },
  { name: 'description', path: 'product_description', weight: 2 },
  {
    name: 'variants',
    path: 'all_variants',
    columns: [
      { name: 'product id', path: 'product_id', weight: 2 },
      { name: 'variant', path: 'variant_specifics', value: ({ variant_specifics: it }) => specifics(it) },
    ],
  },
];

const variantColumns: readonly Column[] = [
  { name: 'flag', path: 'flag', weight: 10 },
  { name: 'price', path: 'price', kind: 'money', weight: 9 },
  stock,
];

/** Details of a product on a TTY. Shows each variant in the form that `--product` takes. */
export const detailScreen: readonly Column<Shape<'ProductDetailsPayload'>>[] = detailColumns.map((column) =>
  column.name === 'variants' ? { ...column, value: variantRows, columns: variantColumns } : column,
);

function variantRows(product: Unchecked<Shape<'ProductDetailsPayload'>>): Row[] | undefined {
  const { variants } = factsOf(product);
  if (variants.length === 0) return undefined;
  return variants.map(({ choices, price, isSoldOut }) => ({
    flag: choices.map(({ label, value }) => `variant=${label}:${value}`).join(','),
    price,
    available: isSoldOut ? false : undefined,
  }));
}

const offerColumns: readonly Column<Shape<'Offer'>>[] = [
  { name: 'offer', path: 'offer_id', weight: 6 },
  { name: 'price', path: 'price', kind: 'money', weight: 10 },
  { name: 'condition', path: 'condition', weight: 9 },
  { name: 'seller', path: 'seller.name', weight: 8 },
  { name: 'positive', path: 'seller.percent_positive', weight: 4 },
  { name: 'ratings', path: 'seller.num_ratings', kind: 'count', weight: 3 },
  { name: 'available', path: 'available', kind: 'flag', weight: 5 },
  { name: 'days', path: 'handling_days.max', kind: 'count', weight: 2 },
  { name: 'minimum', path: 'minimum_quantity', kind: 'count', weight: 1 },
];

function specifics(value: unknown): string {
  if (!Array.isArray(value)) return '';
  const texts = value.map((it) => `${plainText(own(it, 'dimension'))}: ${plainText(own(it, 'value'))}`);
  return texts.join(', ');
}

/** A list of offers, for scripts and for a TTY. */
export const offerList = {
  columns: offerColumns,
  screen: offerColumns.map(
    (column): Column<Shape<'Offer'>> => (column.path === 'available' ? stock : column),
  ),
} as const;

/** The offers in a payload; empty if the payload has no list of offers. */
export const offersOf = (payload: JsonObject): readonly Offer[] => objectsIn(payload, 'offers');

/** Columns of a product listing that a search across retailers found. */
const listingColumns: readonly Column<Shape<'Sku'>>[] = [
  { name: 'title', path: 'title', weight: 9, minWidth: 24 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 10 },
  { name: 'retailer', path: 'retailer', kind: 'id', weight: 7 },
  { name: 'stars', path: 'stars', weight: 4 },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3 },
  { name: 'free shipping', path: 'free_shipping', kind: 'flag', weight: 2 },
  { name: 'available', path: 'available', kind: 'flag', weight: 1 },
  { name: 'url', path: 'url', kind: 'url', names: 'products', weight: 8 },
];

/** Columns of product listings on a TTY, where titles identify the listings. */
const listingScreen: readonly Column<Shape<'Sku'>>[] = [
  { name: 'title', path: 'title', weight: 11 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 10 },
  { name: 'retailer', path: 'retailer', kind: 'id', weight: 7 },
  stock,
  { name: 'stars', path: 'stars', weight: 4, isExtra: true },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3, isExtra: true },
  { name: 'url', path: 'url', kind: 'url', weight: 8, isExtra: true },
];

/** How to print a list of listings, for scripts and on a TTY. */
export const listingList = { columns: listingColumns, screen: listingScreen } as const;

/** Hints shown below search results. */
export function searchHints(excluded: number | undefined, hint: string | undefined): string[] {
  const dropped = excluded ? [`${excluded} more ${excluded === 1 ? 'is' : 'are'} left out by price`] : [];
  return hint ? [...dropped, hint] : dropped;
}
