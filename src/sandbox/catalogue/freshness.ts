import { limits } from '../../api/limits.ts';
import type { Store } from '../store/store.ts';

/** How fresh a response must be; ages in seconds, `newer_than` in unix seconds. */
export interface Freshness {
  readonly maxAge?: number | null;
  readonly newerThan?: number | null;
  readonly async?: boolean;
}

/** A reading is kept this long where no request needs a fresher one, ms. */
const keptMs = 24 * 3600 * 1000;
/** How long reading a retailer's page takes, ms; orders' lives are compressed in the same way. */
const readingMs = 1500;

/** The oldest reading that will do, ms since the epoch; windows shorter than the least one are widened to it. */
export function oldestAllowed({ maxAge, newerThan }: Freshness, now: number): number {
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
 * When the product was read, ms since the epoch; null while it is being read, which only happens to a request with
 * `async`: every other waits for it.
 */
export async function readingOf(
  store: Store,
  { retailer, productId }: Product,
  freshness: Freshness,
  { now, speed }: { now: number; speed: number },
): Promise<number | null> {
  const row = store.get(
    'SELECT read_at FROM product_reads WHERE retailer = ? AND product_id = ?',
    retailer,
    productId,
  );
  const readAt = Number(row?.read_at ?? Number.NEGATIVE_INFINITY);
  if (readAt <= now && readAt >= oldestAllowed(freshness, now)) return readAt;
  const isUnderWay = readAt > now;
  if (freshness.async && isUnderWay) return null;
  const done = freshness.async ? now + Math.ceil(readingMs / speed) : now;
  const sql = `INSERT INTO product_reads (retailer, product_id, read_at) VALUES (?, ?, ?)
    ON CONFLICT (retailer, product_id) DO UPDATE SET read_at = excluded.read_at`;
  await store.transaction(() => store.run(sql, retailer, productId, done));
  return done > now ? null : done;
}
