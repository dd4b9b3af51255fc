import { destinationCountries } from '../../../api/enums.ts';
import { slugOf } from './shop-url.ts';
import { type RehearsedRefusal, type TestProduct, testProducts } from './test-products.ts';
import type { OrderBody } from './types.ts';

/** The parts of an error response; the status is that of the code. */
export interface CreationRefusal {
  readonly code: RehearsedRefusal;
  readonly message: string;
  /** Empty for `insufficient_funds`: the wallet's keeper knows `required`, `available` and `fund_with`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether it shows only when the order is placed: who checks a table of orders beforehand does not know it. */
  readonly isLate: boolean;
}

/** Why an order's test products refuse it at creation, or null (specification, Errors, rule 8). */
export function creationRefusal(order: OrderBody, shopUrl: string): CreationRefusal | null {
  for (const [index, { url }] of order.products.entries()) {
    const code = refusalRehearsedBy(url, shopUrl);
    if (code === null) continue;
    if (code === 'guest_checkout_not_supported' && order.retailer_credentials_id != null) continue;
    const { isLate = false, ...said } = refusals[code]({ order, url, index });
    return { code, ...said, isLate };
  }
  return null;
}

/** The code that an order of a test product is refused with at creation; null where it is not, or the URL is of no such product. */
export function refusalRehearsedBy(url: string, shopUrl: string): RehearsedRefusal | null {
  const slug = slugOf(url, shopUrl);
  if (slug === null) return null;
  const { refusesCreation }: TestProduct = testProducts[slug];
  return refusesCreation ?? null;
}

interface Refused {
  readonly order: OrderBody;
  readonly url: string;
  /** Of the product line. */
  readonly index: number;
}

type Said = Pick<CreationRefusal, 'message' | 'details'> & { readonly isLate?: true };

const refusals: Readonly<Record<RehearsedRefusal, (refused: Refused) => Said>> = {
  url_unreachable: ({ url }) => ({ message: `The product page does not respond: ${url}`, details: { url } }),
  insufficient_funds: () => ({ message: 'The wallet cannot cover this.', details: {}, isLate: true }),
  invalid_shipping_address: ({ order }) => addressRefused(order),
  out_of_stock: ({ url }) => ({
    message: `The item is out of stock: ${url}`,
    details: { url },
    isLate: true,
  }),
  invalid_variant: ({ order, url, index }) => ({
    message: `The retailer does not offer this variant: ${url}`,
    details: {
      url,
      field_errors: [
        {
          field: `products.${index}.variant`,
          code: 'invalid_variant',
          message: 'The retailer does not offer this variant.',
          received: order.products[index]?.variant ?? null,
          expected: 'a variant that the product page lists',
        },
      ],
    },
    isLate: true,
  }),
  shipping_unavailable: ({ order, url }) => ({
    message: `The retailer does not ship this item to the address: ${url}`,
    details: { url, country: countryOf(order) },
    isLate: true,
  }),
  unsupported_retailer: ({ url }) => ({
    message: `This retailer cannot be ordered from: ${url}`,
    details: { url },
  }),
  unsupported_country: ({ order, url }) => ({
    message: `The retailer does not deliver to ${countryOf(order)}: ${url}`,
    details: { url, country: countryOf(order) },
  }),
  retailer_country_not_supported: ({ url }) => ({
    message: `The retailer sells from a country that is not served; ${destinationCountries.join(', ')} are: ${url}`,
    details: { url },
  }),
  guest_checkout_not_supported: ({ url }) => ({
    message: `The retailer sells to members only; order with your own account there: ${url}`,
    details: { url },
  }),
  payment_failed: (refused) => ({
    message: 'The payment did not go through; nothing was charged.',
    details: paymentOf(refused),
    isLate: true,
  }),
  payment_method_required: (refused) => ({
    message: 'There is no payment method to pay this order with.',
    details: paymentOf(refused),
    isLate: true,
  }),
  invalid_payment_method: (refused) => ({
    message: 'The payment method was refused; nothing was charged.',
    details: paymentOf(refused),
    isLate: true,
  }),
};

const countryOf = ({ shipping_address: { country } }: OrderBody): string => country.toUpperCase();

const paymentOf = ({ order: { payment } }: Refused): CreationRefusal['details'] => ({
  mode: payment?.mode ?? 'wallet',
  ...(payment?.payment_method != null && { payment_method: payment.payment_method }),
});

function addressRefused({ shipping_address: { address_line1, postal_code } }: OrderBody): Said {
  const reason = 'No such street and number in this postal code.';
  const field_errors = [
    {
      field: 'shipping_address.address_line1',
      code: 'invalid_shipping_address',
      message: reason,
      received: address_line1,
      expected: `a deliverable address in ${postal_code}`,
    },
  ];
  const details = { address_validation_reasons: [reason], field_errors };
  return { message: 'The shipping address could not be verified.', details };
}
