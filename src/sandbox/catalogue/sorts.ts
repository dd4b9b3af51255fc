import type { ProductCondition } from '../../api/enums.ts';

export type Category =
  | 'Coffee'
  | 'Tea'
  | 'Kitchen'
  | 'Electronics'
  | 'Lighting'
  | 'Apparel'
  | 'Books'
  | 'Handmade'
  | 'Household';

export type Filled<T> = readonly [T, ...T[]];
/** Either one text for all languages, or one text each in English, German and Italian. */
type Word = string | readonly [english: string, german: string, italian: string];

export interface Item {
  readonly name: Word;
  /** Minimum and maximum price, both in cents. */
  readonly cents: readonly [number, number];
  /** What a handmade listing delivers; default: a physical item. */
  readonly handsOver?: 'download' | 'both';
}

export interface Option {
  readonly label: string;
  readonly values: Filled<string>;
}

/** A sort of goods, with everything from which its listings are generated. */
export interface Sort {
  readonly category: Category;
  /** Number of listings. */
  readonly listings: number;
  readonly items: Filled<Item>;
  readonly traits: Filled<Word>;
  readonly sizes: Filled<Word>;
  /** A product's options, present on about half of the listings. */
  readonly options?: Filled<Option>;
  /** Conditions in which other sellers offer these goods. */
  readonly usedAs: Conditions;
  readonly bullets: Filled<string>;
}

const languages: Readonly<Record<string, 0 | 1 | 2>> = { US: 0, DE: 1, IT: 2 };

/** A word in the language of a country's shops. */
export const localized = (word: Word, country: string): string =>
  typeof word === 'string' ? word : word[languages[country] ?? 0];

export const item = (
  name: Word,
  minCents: number,
  maxCents: number,
  handsOver?: 'download' | 'both',
): Item => ({
  name,
  cents: [minCents, maxCents],
  ...(handsOver && { handsOver }),
});

type Conditions = readonly ProductCondition[];

/** Food and clothing have no used offers. */
export const newOnly: Conditions = [];
export const used: Conditions = ['UsedLikeNew', 'UsedVeryGood', 'UsedGood', 'UsedAcceptable'];
export const refurbished: Conditions = ['Refurbished', 'UsedLikeNew', 'UsedGood'];

export const brands: Filled<string> = [
  'Alderbrook',
  'Casa Lumière',
  'Fennwick',
  'Ostara Field',
  'Bellamy & Thorne',
  'Måneskær',
  'Pinehurst Row',
  'Tavolino',
  'Grünholz',
  'Łąka Works',
  'Kaigan 海岸',
  'Oakline',
];

/** Sellers on the large marketplace. */
export const sellers: Filled<string> = [
  'Quayside Trading',
  'Second Shelf',
  'Marlow Outlet',
  'Brightside Resale',
  'Nordlicht Handel',
  'Emporio Verde',
];

export const authors: Filled<string> = [
  'Ines Okafor-Lind',
  'T. R. Ashgrove',
  'Marta Völker',
  'Giulia Santoré',
  'Pell Hardwicke',
  'Noor van Eyck',
  'Ida Brännström',
  'Cosmo Winterbourne',
];

/** A shop on the handmade marketplace. */
interface Shop {
  readonly name: string;
  /** The shop is on vacation, so nothing can be ordered. */
  readonly isAway?: boolean;
  /** Reviews of the past year. The average is null for an unrated shop. */
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
