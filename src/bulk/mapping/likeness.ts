/** A column that a heading can be chosen for. */
export type MappedColumn =
  | 'product_url'
  | 'max_price'
  | 'name'
  | 'first_name'
  | 'last_name'
  | 'address_line1'
  | 'address_line2'
  | 'city'
  | 'state'
  | 'postal_code'
  | 'phone_number'
  | 'country'
  | 'quantity';

interface Likeness {
  /** Words of a heading, the likelier ones first; each must be there. */
  readonly words: readonly string[];
  /** Words that make it something else. */
  readonly not?: string;
}

const likenesses: Readonly<Record<MappedColumn, Likeness>> = {
  product_url: {
    words: ['product url', 'product link', 'item url', 'item link', 'url', 'link', 'href'],
    not: 'image img photo picture tracking track',
  },
  max_price: {
    words: ['max price', 'price limit', 'ceiling', 'limit', 'budget', 'maximum', 'max'],
    not: 'quantity qty days',
  },
  name: {
    words: ['full name', 'recipient name', 'name', 'recipient', 'attention', 'attn', 'consignee'],
    not: 'product item company business user file shop store brand first last given family surname account',
  },
  first_name: { words: ['first name', 'given name', 'forename', 'firstname'] },
  last_name: { words: ['last name', 'family name', 'surname', 'lastname'] },
  address_line1: {
    words: ['address line 1', 'address 1', 'street 1', 'street address', 'line 1', 'address', 'street'],
    not: '2 3 email mail ip web',
  },
  address_line2: {
    words: ['address line 2', 'address 2', 'street 2', 'line 2', 'apt', 'apartment', 'suite'],
  },
  city: { words: ['city', 'town', 'locality'] },
  state: { words: ['state code', 'state', 'province', 'region'], not: 'order payment status' },
  postal_code: { words: ['postal code', 'zip code', 'zip', 'zipcode', 'postcode', 'postal', 'post code'] },
  phone_number: { words: ['phone number', 'phone', 'telephone', 'mobile', 'tel', 'cell'] },
  country: { words: ['country code', 'country'] },
  quantity: { words: ['quantity', 'qty', 'pieces', 'pcs'] },
};

/** Words that say that it is about the one who pays or sells, not about where the order goes. */
const others = new Set(['billing', 'bill', 'seller', 'buyer', 'payer', 'sender', 'supplier', 'return']);
const receiving = new Set(['ship', 'shipping', 'delivery', 'deliver', 'recipient', 'to', 'customer']);

/** The words of a heading: `ShipTo_Zip2` has ship, to, zip and 2. */
const wordsOf = (heading: string): string[] =>
  heading
    .slice(0, longest)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{L})(?=\d)/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '');
const longest = 100;

/** How much a heading looks like a column; 0 for not at all. */
export function likenessOf(column: MappedColumn, heading: string): number {
  const words = wordsOf(heading);
  if (words.some((word) => others.has(word))) return 0;
  const { words: likely, not = '' } = likenesses[column];
  const isOther = words.some((word) => not.split(' ').includes(word));
  const isReceiving = words.some((word) => receiving.has(word));
  // `Ship To` alone is who receives it.
  if (column === 'name' && words.length > 0 && words.every((word) => receiving.has(word))) return 5;
  const rank = likely.findIndex((phrase) => phrase.split(' ').every((word) => words.includes(word)));
  if (rank < 0 || isOther) return 0;
  return 20 - rank + (isReceiving ? 2 : 0) - Math.min(words.length, 9) / 10;
}

/** The heading, by its place among all, that looks most like a column; undefined where none does. */
export function likeliest(
  column: MappedColumn,
  headings: readonly string[],
  isFree: (index: number) => boolean,
): number | undefined {
  const scores = headings.map((heading, index) => (isFree(index) ? likenessOf(column, heading) : 0));
  const most = Math.max(0, ...scores);
  return most > 0 ? scores.indexOf(most) : undefined;
}

/** Whether a text looks like any column. */
export const looksLikeHeading = (text: string): boolean =>
  (Object.keys(likenesses) as MappedColumn[]).some((column) => likenessOf(column, text) > 0);
