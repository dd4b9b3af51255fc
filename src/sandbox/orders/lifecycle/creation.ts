import type { ErrorCode } from '../../../contract/error-codes.ts';
import { slugOf } from './shop-url.ts';
import { type TestProduct, testProducts } from './test-products.ts';
import type { OrderBody } from './types.ts';

/** The parts of an error response; the status is that of the code. */
export interface CreationRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** Empty for `insufficient_funds`: the wallet's keeper knows `required`, `available` and `fund_with`. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Why an order's test products refuse it at creation, or null (specification, Errors, rule 8). */
export function creationRefusal(order: OrderBody, shopUrl: string): CreationRefusal | null {
  for (const { url } of order.products) {
    const slug = slugOf(url, shopUrl);
    if (slug === null) continue;
    const { refusesCreation }: TestProduct = testProducts[slug];
    if (refusesCreation) return refusal(refusesCreation, order, url);
  }
  return null;
}

function refusal(code: ErrorCode, order: OrderBody, url: string): CreationRefusal {
  if (code === 'url_unreachable') {
    return { code, message: `The product page does not respond: ${url}`, details: { url } };
  }
  if (code === 'insufficient_funds') {
    return { code, message: 'The wallet cannot cover this.', details: {} };
  }
  const message = 'The shipping address could not be verified.';
  const reason = 'No such street and number in this postal code.';
  const { address_line1, postal_code } = order.shipping_address;
  const field_errors = [
    {
      field: 'shipping_address.address_line1',
      code,
      message: reason,
      received: address_line1,
      expected: `a deliverable address in ${postal_code}`,
    },
  ];
  return { code, message, details: { address_validation_reasons: [reason], field_errors } };
}
