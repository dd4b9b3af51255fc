import { isObject, objectsIn, own, textIn } from '../api/json.ts';
import { canonicalPage, canonicalVariant } from './canonical-product.ts';
import { canonicalRecipient, type RecipientParts } from './canonical-recipient.ts';

/** The fields of a product line that identify the product. */
interface ProductLine {
  readonly url: string;
  readonly variant?: readonly { readonly label: string; readonly value: string }[] | null | undefined;
}

/** The fields of an order that determine what is ordered, and for whom. */
export interface OrderContent {
  readonly products: readonly ProductLine[];
  readonly shipping_address: RecipientParts;
}

/**
 * What is ordered, and for whom. The ceiling, the quantity and all other fields belong to a single attempt at ordering
 * it.
 */
export interface NeedContent {
  /** Normalized products, deduplicated and sorted. */
  readonly products: readonly string[];
  readonly recipient: string;
}

/**
 * Reduces an order to its content in normalized form. Pure. @param pageOf returns the product page of a listing, if
 * known.
 */
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

/**
 * Reads what is ordered and for whom, from an order as it was sent (`products`) or as the service shows it (`items`).
 * Returns undefined if the order has no products or no recipient.
 */
export function contentIn(
  order: Readonly<Record<string, unknown>>,
  lines: 'products' | 'items',
): OrderContent | undefined {
  const address = own(order, 'shipping_address');
  const products = objectsIn(order, lines).map((line) => ({
    url: textIn(line, 'url') ?? '',
    variant: objectsIn(line, 'variant').map((choice) => ({
      label: textIn(choice, 'label') ?? '',
      value: textIn(choice, 'value') ?? '',
    })),
  }));
  return isObject(address) && products.length > 0
    ? { products, shipping_address: recipientIn(address) }
    : undefined;
}

export const recipientIn = (address: unknown): RecipientParts => {
  const part = (name: string): string | undefined => textIn(address, name);
  return {
    ...{ first_name: part('first_name'), last_name: part('last_name') },
    ...{ address_line1: part('address_line1'), address_line2: part('address_line2') },
    ...{ postal_code: part('postal_code'), country: part('country') },
  };
};
