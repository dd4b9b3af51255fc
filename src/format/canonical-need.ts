import { canonicalPage, canonicalVariant } from './canonical-product.ts';
import { canonicalRecipient, type RecipientParts } from './canonical-recipient.ts';

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

/** What is wanted, and for whom. Ceiling, quantity and all else are terms of an attempt. */
export interface NeedContent {
  /** Each product once, in one spelling and one order. */
  readonly products: readonly string[];
  readonly recipient: string;
}

/** @param pageOf the page of a listing, where it is known. Pure. */
export function canonicalNeed(
  { products, shipping_address: address }: OrderContent,
  pageOf: (url: string) => string | undefined = () => undefined,
): NeedContent {
  const spelled = products.map(({ url, variant }) => {
    const choices = canonicalVariant(variant);
    const page = canonicalPage(pageOf(url) ?? url);
    return choices === '' ? page : `${page} ${choices}`;
  });
  const [only, ...more] = spelled;
  const distinct = more.length === 0 && only !== undefined ? [only] : [...new Set(spelled)].sort();
  return { products: distinct, recipient: canonicalRecipient(address) };
}
