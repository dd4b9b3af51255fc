import type { Sqlite } from '../../platform/sqlite/load.ts';
import { hash } from '../store/random.ts';
import { said } from './goods/sort.ts';
import { type Listing, listingAt, listingCount } from './listing.ts';

/** Raised when the listings change, so that older files are built anew. */
const version = 2;

/** How long another process that builds the same index is waited for, ms; it takes about half of that. */
const busyTimeoutMs = 400;

/** Only what a search filters and sorts by; the listings themselves follow from their numbers. */
const tables = `
  DROP TABLE IF EXISTS listings; DROP TABLE IF EXISTS words;
  CREATE TABLE listings (
    number INTEGER PRIMARY KEY, retailer TEXT NOT NULL, cents INTEGER NOT NULL, stars REAL NOT NULL,
    reviews INTEGER NOT NULL, reach INTEGER NOT NULL) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (
    title, keywords, content = '', tokenize = 'porter unicode61 remove_diacritics 2');`;

/**
 * Opens the catalogue's index, building it where the file has none for this seed. Another process may do the same at
 * the same moment. As the index can be built again at any time, one that cannot be kept or waited for is built in memory.
 */
export function openIndex(
  database: (file: string) => Sqlite,
  file: string,
  seed: number,
  own: Iterable<Listing> = [],
): Sqlite {
  try {
    return opened(database, file, seed, own);
  } catch (error) {
    if (file === ':memory:') throw error;
    return opened(database, ':memory:', seed, own);
  }
}

function opened(
  database: (file: string) => Sqlite,
  file: string,
  seed: number,
  own: Iterable<Listing>,
): Sqlite {
  const index = database(file);
  try {
    build(index, seed, own);
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/** The mark is set in the transaction that fills the tables, so that nobody sees half of them. */
function build(index: Sqlite, seed: number, own: Iterable<Listing>): void {
  index.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const mark = hash(`${version} ${seed}`) | 1;
  if (markOf(index) === mark) return;
  index.exec('BEGIN EXCLUSIVE');
  if (markOf(index) !== mark) fill(index, seed, mark, own);
  index.exec('COMMIT');
}

function markOf(index: Sqlite): number {
  const row: object = index.prepare('PRAGMA user_version').get() ?? {};
  return Number({ user_version: 0, ...row }.user_version) >>> 0;
}

function fill(index: Sqlite, seed: number, mark: number, own: Iterable<Listing>): void {
  index.exec(tables);
  const insert = index.prepare('INSERT INTO listings VALUES (?, ?, ?, ?, ?, ?)');
  const addWords = index.prepare('INSERT INTO words (rowid, title, keywords) VALUES (?, ?, ?)');
  const add = (it: Listing): void => {
    insert.run(it.number, it.seller.retailer, it.cents, it.stars ?? 0, it.reviews ?? 0, reachOf(it));
    addWords.run(it.number, it.title, keywordsOf(it));
  };
  for (let number = 1; number <= listingCount; number += 1) {
    const it = listingAt(seed, number);
    if (it) add(it);
  }
  for (const it of own) add(it);
  index.exec(`PRAGMA user_version = ${mark | 0}`);
}

/** Goods are found by their English name wherever they are sold. */
const keywordsOf = ({ sort, item, brand }: Listing): string =>
  `${sort.category} ${said(item.name, 'US')} ${brand}`;

/** Who can order it: 2 anyone in the US, 1 anyone elsewhere, 0 only with an account there; -1 is never shown. */
function reachOf({ seller, currency }: Listing): number {
  if (currency !== seller.currency) return -1;
  if (!seller.guestCheckout) return 0;
  return seller.countries.includes('US') ? 2 : 1;
}
