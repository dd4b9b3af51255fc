import { patiently } from '../patiently.ts';
import type { Sqlite } from '../sqlite.ts';
import { generateListings, type Listing } from './generate.ts';
import { retailers } from './retailers.ts';

/** Raised when the generated listings change, so that older files are built anew. */
const version = 1;

const tables = `
  DROP TABLE IF EXISTS listings; DROP TABLE IF EXISTS words;
  CREATE TABLE listings (
    rowid INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, retailer TEXT NOT NULL, kind TEXT NOT NULL, product_id TEXT NOT NULL,
    url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, brand TEXT NOT NULL, category TEXT NOT NULL, cents INTEGER NOT NULL,
    currency TEXT NOT NULL, stars REAL, reviews INTEGER, available INTEGER NOT NULL, ship_cents INTEGER NOT NULL,
    gift_option INTEGER NOT NULL, reach INTEGER NOT NULL, variant_label TEXT, variant_values TEXT NOT NULL, UNIQUE (retailer, product_id)) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (title, category, content = '', tokenize = 'unicode61 remove_diacritics 2');`;

/** Who can order it: 2 anyone in the US, 1 anyone elsewhere, 0 only with an account of their own. */
function reachOf({ retailer }: Listing): number {
  const seller = retailers.find((it) => it.retailer === retailer);
  if (!seller?.guestCheckout) return 0;
  return seller.countries.includes('US') ? 2 : 1;
}

/** Fills the database once; its version is set in the same transaction, so that nobody sees half of it. */
export function build(database: Sqlite, seed: number): void {
  database.exec('PRAGMA busy_timeout = 15000');
  patiently(() => database.exec('PRAGMA journal_mode = WAL'));
  if (isBuilt(database)) return;
  patiently(() => database.exec('BEGIN IMMEDIATE'));
  try {
    if (!isBuilt(database)) fill(database, seed);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function isBuilt(database: Sqlite): boolean {
  const row: object = database.prepare('PRAGMA user_version').get() ?? {};
  return Number({ user_version: 0, ...row }.user_version) === version;
}

function fill(database: Sqlite, seed: number): void {
  database.exec(tables);
  const insert = database.prepare(
    `INSERT INTO listings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const index = database.prepare('INSERT INTO words (rowid, title, category) VALUES (?, ?, ?)');
  let rowid = 0;
  for (const it of generateListings(seed)) {
    rowid += 1;
    insert.run(
      ...[
        rowid,
        it.sku,
        it.retailer,
        it.kind,
        it.productId,
        it.url,
        it.title,
        it.brand,
        it.category,
        it.cents,
        it.currency,
      ],
      ...[
        it.stars,
        it.reviews,
        it.available ? 1 : 0,
        it.shipCents,
        it.giftOption ? 1 : 0,
        reachOf(it),
        it.variantLabel,
        it.variantValues.join('|'),
      ],
    );
    index.run(rowid, it.title, it.category);
  }
  database.exec(`PRAGMA user_version = ${version}`);
}

/** A row of the table above as the listing it was. */
export function listingOf(row: Readonly<Record<string, unknown>>): Listing {
  const text = (name: string): string => String(row[name]);
  const count = (name: string): number => Number(row[name]);
  return {
    sku: text('sku'),
    retailer: text('retailer'),
    kind: text('kind') as Listing['kind'],
    productId: text('product_id'),
    url: text('url'),
    title: text('title'),
    brand: text('brand'),
    category: text('category'),
    cents: count('cents'),
    currency: text('currency'),
    stars: row.stars === null ? null : count('stars'),
    reviews: row.reviews === null ? null : count('reviews'),
    available: row.available === 1,
    shipCents: count('ship_cents'),
    giftOption: row.gift_option === 1,
    variantLabel: row.variant_label === null ? null : text('variant_label'),
    variantValues: text('variant_values')
      .split('|')
      .filter((value) => value !== ''),
  };
}
