import type { Conditions } from './conditions.ts';

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
/** The same everywhere, or English, German, Italian. */
export type Word = string | readonly [english: string, german: string, italian: string];

export interface Item {
  readonly name: Word;
  /** Lowest and highest price, cents. */
  readonly cents: readonly [number, number];
  /** What a handmade listing hands over; physical when absent. */
  readonly handsOver?: 'download' | 'both';
}

export interface Option {
  readonly label: string;
  readonly values: Filled<string>;
}

/** A sort of goods: what it is called, what it costs, how it is sold. */
export interface Sort {
  readonly category: Category;
  /** How many are listed. */
  readonly listings: number;
  readonly items: Filled<Item>;
  readonly traits: Filled<Word>;
  readonly sizes: Filled<Word>;
  /** Choices of a product, for about half of the listings. */
  readonly options?: Filled<Option>;
  /** In which conditions other sellers offer it. */
  readonly usedAs: Conditions;
  readonly bullets: Filled<string>;
}

const languages: Readonly<Record<string, 0 | 1 | 2>> = { US: 0, DE: 1, IT: 2 };

/** A word as a shop of that country writes it. */
export const said = (word: Word, country: string): string =>
  typeof word === 'string' ? word : word[languages[country] ?? 0];

export const item = (name: Word, least: number, most: number, handsOver?: 'download' | 'both'): Item => ({
  name,
  cents: [least, most],
  ...(handsOver && { handsOver }),
});
