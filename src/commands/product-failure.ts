import { ErrandError } from '../errors.ts';
import type { Row } from '../output/result.ts';

/** What the exit codes mean where one product is read. */
export const noSuchProduct = 'the retailer has no such product';
export const noAnswer = 'the retailer gave no answer';

/** A read whose payload says that the retailer had no answer. */
export function noProduct(productId: string, payload: Row): ErrandError {
  const { code, message = noAnswer, status: _, ...details } = payload;
  return new ErrandError(
    code === 'product_not_found' ? 'not_found' : 'ended_badly',
    `${productId}: ${String(message)}`,
    {
      ...(code !== undefined && { code: String(code) }),
      ...(Object.keys(details).length > 0 && { details }),
      outcome: 'applied',
      hint: 'Check the product id and --retailer; `errand product search` finds ids.',
    },
  );
}
