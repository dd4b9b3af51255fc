import type { Context } from '../../context.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import type { Row } from '../../output/result.ts';

/** How a product is asked for; ages in seconds. */
interface Wanted {
  readonly retailer?: string | undefined;
  readonly maxAge?: number | undefined;
  /** ISO 8601. */
  readonly newerThan?: string | undefined;
  readonly async?: boolean | undefined;
  readonly wait?: boolean | undefined;
}

/** Between two looks at a product that is being fetched, ms. */
const pollMs = 1000;

/**
 * A product's details or offers; with `wait` once they are fetched.
 * @throws ErrandError deadline where --timeout passes first; ended_badly where the retailer has no answer.
 */
export async function readProduct(
  context: Context,
  name: 'product.get' | 'product.offers',
  productId: string,
  wanted: Wanted,
): Promise<Row> {
  const { retailer, maxAge, newerThan, wait = false } = wanted;
  if (retailer === undefined)
    throw new UsageError('--retailer is missing; `errand retailer list -o id` prints them');
  if (maxAge !== undefined && newerThan !== undefined)
    throw new UsageError('--max-age and --newer-than exclude each other');
  const client = await context.client();
  const { clock, signal } = context;
  const timeoutMs = context.waitMs();
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs;
  for (;;) {
    const { body } = await client.call(name, {
      path: { product_id: productId },
      query: {
        retailer,
        ...(maxAge !== undefined && { max_age: maxAge }),
        ...(newerThan !== undefined && { newer_than: Math.floor(Date.parse(newerThan) / 1000) }),
        ...((wait || wanted.async) && { async: true }),
      },
    });
    if (body.status === 'failed') throw failed(productId, body);
    if (!wait || body.status !== 'processing') return body;
    if (clock.now() >= deadline)
      throw new ErrandError('deadline', `--timeout passed; ${productId} is still being fetched`);
    await clock.sleep(Math.min(pollMs, deadline - clock.now()), signal);
  }
}

function failed(productId: string, payload: Row): ErrandError {
  const { code, message = 'the retailer gave no answer' } = payload;
  return new ErrandError('ended_badly', `${productId}: ${String(message)}`, {
    ...(code !== undefined && { code: String(code) }),
    details: payload,
    outcome: 'applied',
    hint: 'Check the product id and --retailer; `errand product search` finds ids.',
  });
}
