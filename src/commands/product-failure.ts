import { ErrandError } from '../errors.ts';
import type { Row } from '../output/result.ts';

/** A read whose payload says that the retailer had no answer. */
export function noProduct(productId: string, payload: Row): ErrandError {
  const { code, message = 'the retailer gave no answer' } = payload;
  return new ErrandError('ended_badly', `${productId}: ${String(message)}`, {
    ...(code !== undefined && { code: String(code) }),
    details: payload,
    outcome: 'applied',
    hint: 'Check the product id and --retailer; `errand product search` finds ids.',
  });
}
