import { serviceCurrency } from '../../api/amount.ts';
import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';

/** A choice that an order line names: `{ label: 'Size', value: 'L' }`. */
interface VariantChoice {
  readonly label: string;
  readonly value: string;
}

/** A form in which a product is sold. */
export interface ProductVariant {
  readonly choices: readonly VariantChoice[];
  /** Cents in the service's own currency; undefined if unknown. */
  readonly price: number | undefined;
  readonly isSoldOut: boolean;
}

/** What the service says about a product, before the product is ordered. */
export interface ProductFacts {
  readonly title: string | undefined;
  /** Cents in the service's own currency; undefined if unknown. */
  readonly price: number | undefined;
  /** Variants of the product; empty if there is only one form. */
  readonly variants: readonly ProductVariant[];
}

export function factsOf(product: JsonObject): ProductFacts {
  const currency = textIn(product, 'currency_code') ?? serviceCurrency;
  const priceIn = (record: JsonObject): number | undefined =>
    currency === serviceCurrency ? numberIn(record, 'price') : undefined;
  const detailed = objectsIn(product, 'variants').filter((one) => choicesOf(one).length > 0);
  const variants = detailed.length > 0 ? detailed : objectsIn(product, 'all_variants');
  return {
    title: textIn(product, 'title'),
    price: priceIn(product),
    variants: variants.map((variant) => ({
      choices: choicesOf(variant),
      price: priceIn(variant),
      isSoldOut: variant.available === false,
    })),
  };
}

const choicesOf = (variant: JsonObject): VariantChoice[] =>
  objectsIn(variant, 'variant_specifics').flatMap((specific) => {
    const [label, value] = [textIn(specific, 'dimension'), textIn(specific, 'value')];
    return label === undefined || value === undefined ? [] : [{ label, value }];
  });

/** `Size: L, Color: Red`. */
export const choicesText = (choices: readonly VariantChoice[]): string =>
  choices.map(({ label, value }) => `${label}: ${value}`).join(', ');
