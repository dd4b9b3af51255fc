import { canonicalPage, canonicalVariant } from '../../format/canonical-product.ts';
import { canonicalRecipient, type RecipientParts } from '../../format/canonical-recipient.ts';
import type { Reference } from './reference.ts';

/** A product line, as far as it says which product. */
interface ProductLine {
  readonly url: string;
  readonly variant?: readonly { readonly label: string; readonly value: string }[] | null | undefined;
}

/** An order, as far as it says what is wanted and for whom. */
export interface OrderContent {
  readonly products: readonly ProductLine[];
  readonly shipping_address: RecipientParts;
}

/** What somebody wants once: these products, for this recipient. Ceiling, quantity and all else are terms of an attempt. */
export interface Need {
  readonly reference: Reference | undefined;
  /** Each product once, in one spelling and one order. */
  readonly products: readonly string[];
  readonly recipient: string;
}

/** @param pageOf the page of a listing, where it is known. Pure. */
export function needOf(
  { products, shipping_address: address }: OrderContent,
  reference?: Reference,
  pageOf: (url: string) => string | undefined = () => undefined,
): Need {
  const spelled = products.map(({ url, variant }) => {
    const choices = canonicalVariant(variant);
    const page = canonicalPage(pageOf(url) ?? url);
    return choices === '' ? page : `${page} ${choices}`;
  });
  const [only, ...more] = spelled;
  const distinct = more.length === 0 && only !== undefined ? [only] : [...new Set(spelled)].sort();
  return { reference, products: distinct, recipient: canonicalRecipient(address) };
}

/** How two needs compare by what they ask for. `overlap`: some of the products, for the same recipient. */
export type Likeness = 'alike' | 'overlap' | 'unlike';

/** The same that the table of attempts decides by hashes. Pure. */
export function compareNeeds(one: Need, other: Need): Likeness {
  if (one.recipient !== other.recipient) return 'unlike';
  const common = one.products.filter((product) => other.products.includes(product)).length;
  if (common === 0) return 'unlike';
  return common === one.products.length && common === other.products.length ? 'alike' : 'overlap';
}
