import type { Received } from '../../api/received.ts';
import { namedProduct } from '../../orders/products/named.ts';
import { type Freshness, freshnessFields, noProduct } from '../../orders/products/search.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import { poll } from '../../platform/poll.ts';
import type { Context } from '../../run/context.ts';

export const waitOption = {
  wait: { kind: 'flag', description: 'have it fetched, and poll until it is there' },
} as const;

interface ReadOptions extends Freshness {
  readonly async?: boolean | undefined;
  readonly wait?: boolean | undefined;
}

/** Polling interval while a product is being fetched, in ms. */
const pollMs = 1000;

/**
 * Reads the details or offers of a product. With `wait`, waits until the service has fetched them.
 * @throws ErrandError deadline if --timeout passes first; ended_badly if the retailer did not respond.
 */
export async function readProduct(
  context: Context,
  name: 'product.get' | 'product.offers',
  product: string,
  options: ReadOptions,
): Promise<Received<'product.get'> | Received<'product.offers'>> {
  const { wait = false } = options;
  const { productId, retailer } = await namedProduct(context, product, options.retailer);
  const fields = freshnessFields({ ...options, retailer });
  const client = await context.client();
  const { clock, signal } = context;
  const deadline = new Deadline(clock, context.waitMs());
  const read = await poll(
    async () => {
      const { body } = await client.call(name, {
        path: { product_id: productId },
        query: { ...fields, ...((wait || options.async) && { async: true }) },
      });
      if (body.status === 'failed') throw noProduct(productId, body);
      return wait && body.status === 'processing' ? undefined : body;
    },
    { deadline, everyMs: pollMs, signal },
  );
  if (read) return read;
  throw new ErrandError('deadline', `--timeout passed; ${productId} is still being fetched`);
}
