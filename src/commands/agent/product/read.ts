import type { Received } from '../../../api/received.ts';
import { paidCall } from '../../../orders/payments/paid-call.ts';
import { namedProduct } from '../../../orders/products/named.ts';
import { type Freshness, freshnessFields, noProduct } from '../../../orders/products/search.ts';
import type { Context } from '../../../run/context.ts';
import { paymentFrom } from '../pay-options.ts';

type ReadOptions = Freshness & Parameters<typeof paymentFrom>[0] & { readonly async?: boolean };

/**
 * Pays for the details or offers of a product and returns them.
 * @throws ErrandError ended_badly if the retailer did not respond.
 */
export async function readPaid(
  context: Context,
  name: 'agent.product.get' | 'agent.product.offers',
  product: string,
  { retailer: given, maxAge, newerThan, async, ...pay }: ReadOptions,
): Promise<Received<'agent.product.get'> | Received<'agent.product.offers'>> {
  const { productId, retailer } = await namedProduct(context, product, given);
  const fields = freshnessFields({ retailer, maxAge, newerThan });
  const query = { product_id: productId, ...fields, ...(async && { async }) };
  const payload = await paidCall(context, name, { query }, paymentFrom(pay));
  if (payload.status === 'failed') throw noProduct(productId, payload);
  return payload;
}
