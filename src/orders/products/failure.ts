import type { JsonObject } from '../../api/json.ts';
import { plainText } from '../../format/path.ts';
import { ErrandError } from '../../platform/errors.ts';

/** What the exit codes mean where one product is read. */
export const noSuchProduct = 'the retailer has no such product';
export const noResponse = 'the retailer did not respond';

/** A read whose payload says that the retailer did not respond. */
export function noProduct(productId: string, payload: JsonObject): ErrandError {
  const { code, message, status: _, ...details } = payload;
  return new ErrandError(
    code === 'product_not_found' ? 'not_found' : 'ended_badly',
    `${productId}: ${plainText(message) || noResponse}`,
    {
      ...(code !== undefined && { code: plainText(code) }),
      ...(Object.keys(details).length > 0 && { details }),
      outcome: 'applied',
      hint: 'Check the product id and --retailer; `errand product search` finds ids.',
    },
  );
}
