import { canonicalNeed, type NeedContent, type OrderContent } from '../../format/canonical-need.ts';
import type { Reference } from '../../journal/attempts.ts';

/** What somebody needs once: these products, for this recipient, for the occasion a reference names. */
export interface Need extends NeedContent {
  readonly reference: Reference | undefined;
}

/** @param pageOf returns the product page of a listing, if known. Pure. */
export const needOf = (
  order: OrderContent,
  reference?: Reference,
  pageOf?: (url: string) => string | undefined,
): Need => ({ reference, ...canonicalNeed(order, pageOf) });

/** How the content of two needs compares. `overlap`: some of the products, for the same recipient. */
export type Likeness = 'alike' | 'overlap' | 'unlike';

/** Compares needs exactly; the table of attempts does the same by hashes. Pure. */
export function compareNeeds(one: NeedContent, other: NeedContent): Likeness {
  if (one.recipient !== other.recipient) return 'unlike';
  const common = one.products.filter((product) => other.products.includes(product)).length;
  if (common === 0) return 'unlike';
  return common === one.products.length && common === other.products.length ? 'alike' : 'overlap';
}
