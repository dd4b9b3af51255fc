import { limits } from '../../contract/limits.ts';
import type { Store } from '../store/store.ts';

/** How fresh an answer is asked for; ages in seconds, `newer_than` in unix seconds. */
export interface Wanted {
  readonly maxAge?: number | null;
  readonly newerThan?: number | null;
  readonly async?: boolean;
}

/** An answer is kept this long where nobody asks for a fresher one, ms. */
const keptMs = 24 * 3600 * 1000;
/** How long reading a retailer's page takes, ms; orders' lives are compressed in the same way. */
const readingMs = 1500;

/** The oldest reading that will do, ms since the epoch; windows shorter than the least one are widened to it. */
export function oldestWanted({ maxAge, newerThan }: Wanted, now: number): number {
  const least = limits.maxAgeSeconds.min * 1000;
  if (maxAge != null) return now - Math.max(least, maxAge * 1000);
  if (newerThan != null) return Math.min(now - least, newerThan * 1000);
  return now - keptMs;
}

interface Product {
  readonly retailer: string;
  readonly productId: string;
}

/**
 * When the product was read, ms since the epoch; null while it is being read, which only happens to who asks with
 * `async`: everyone else waits for it.
 */
export async function readingOf(
  store: Store,
  { retailer, productId }: Product,
  wanted: Wanted,
  { now, speed }: { now: number; speed: number },
): Promise<number | null> {
  const row = store.get(
    'SELECT read_at FROM product_reads WHERE retailer = ? AND product_id = ?',
    retailer,
    productId,
  );
  const readAt = Number(row?.read_at ?? Number.NEGATIVE_INFINITY);
  if (readAt <= now && readAt >= oldestWanted(wanted, now)) return readAt;
  const isUnderWay = readAt > now;
  if (wanted.async && isUnderWay) return null;
  const done = wanted.async ? now + Math.ceil(readingMs / speed) : now;
  const sql = `INSERT INTO product_reads (retailer, product_id, read_at) VALUES (?, ?, ?)
    ON CONFLICT (retailer, product_id) DO UPDATE SET read_at = excluded.read_at`;
  await store.transaction(() => store.run(sql, retailer, productId, done));
  return done > now ? null : done;
}
