import { textIn } from '../../api/json.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { namedProduct } from './named.ts';
import { saveTitles } from './pick.ts';
import { factsOf, type ProductFacts } from './product-facts.ts';

/** How long, in ms, a prompt waits for the details of a product. */
const maxWaitMs = 10_000;

/** Reads the details of a product by its URL. Undefined if they cannot be read. The order continues even then. */
export async function readFacts(context: Context, url: string): Promise<ProductFacts | undefined> {
  if (context.previewsReads) return undefined;
  try {
    const { productId, retailer } = await namedProduct(context, url, undefined);
    if (retailer === undefined) return undefined;
    const client = await context.client();
    const { body } = await client.call(
      'product.get',
      { path: { product_id: productId }, query: { retailer } },
      { timeoutMs: maxWaitMs },
    );
    if (body.status !== 'completed') return undefined;
    await saveTitles(context, [[url, textIn(body, 'title')]]);
    return factsOf(body);
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return undefined;
  }
}
