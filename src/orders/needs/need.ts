import { canonicalNeed, type NeedContent, type OrderContent } from '../../format/canonical-need.ts';
import type { Reference } from '../../journal/attempts.ts';

/** A need that is to be met once: certain products, for one recipient, for the occasion that a reference names. */
export interface Need extends NeedContent {
  readonly reference: Reference | undefined;
}

/** @param pageOf returns the product page of a listing, if it is known. Pure. */
export const needOf = (
  order: OrderContent,
  reference?: Reference,
  pageOf?: (url: string) => string | undefined,
): Need => ({ reference, ...canonicalNeed(order, pageOf) });

/** Result of comparing the content of two needs. `overlap`: they have the recipient and some products in common. */
export type Likeness = 'alike' | 'overlap' | 'unlike';

/** Compares needs exactly. The table of attempts makes the same comparison by hash. Pure. */
export function compareNeeds(one: NeedContent, other: NeedContent): Likeness {
  if (one.recipient !== other.recipient) return 'unlike';
  const common = one.products.filter((product) => other.products.includes(product)).length;
  if (common === 0) return 'unlike';
  return common === one.products.length && common === other.products.length ? 'alike' : 'overlap';
}
