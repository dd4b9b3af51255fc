import { operations } from '../../../api/operations/index.ts';
import { parametersOf, z } from '../arguments.ts';
import { defineTool } from '../tool.ts';
import { shown } from './shapes.ts';

/** So many listings as a model reads at once, where it asks for no number. */
const fewListings = 10;

const { search: searching, 'product.get': product, 'retailer.check': checking } = operations;

export const search = defineTool({
  name: 'search',
  title: 'Search products',
  description: `${searching.summary}. Prices are in cents. A result has the url that order_quote takes.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(searching)),
  output: () => ({ results: shown('SearchResponse') }),
  certain: ['results'],
  untrusted: ['results'],
  async run({ context }, given) {
    const client = await context.client();
    const { body } = await client.call('search', {
      query: { limit: fewListings, ...(given as SearchQuery) },
    });
    return { record: { results: body } };
  },
});

// Both were checked against the very parameters of the operation.
type SearchQuery = { q: string };
type ProductGiven = { product_id: string; retailer: string };

export const productGet = defineTool({
  name: 'product_get',
  title: "Read a product's details",
  description: `${product.summary}. product_id and retailer are those of a search result, or of the product's URL.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(product, ['product_id', 'retailer', 'max_age'])),
  output: () => ({ product: shown('ProductDetailsPayload') }),
  certain: ['product'],
  untrusted: ['product'],
  async run({ context }, given) {
    const { product_id, ...query } = given as ProductGiven;
    const client = await context.client();
    const { body } = await client.call('product.get', { path: { product_id }, query });
    return { record: { product: body } };
  },
});

export const retailerCheck = defineTool({
  name: 'retailer_check',
  title: 'Check whether a URL can be ordered',
  description: `${checking.summary}. It costs nothing and orders nothing.`,
  effect: 'reads',
  arguments: z.strictObject(parametersOf(checking)),
  output: () => ({ check: shown('RetailerCheckResponse') }),
  certain: ['check'],
  untrusted: ['check'],
  async run({ context }, given) {
    const client = await context.client();
    const { body } = await client.call('retailer.check', { query: given as { url: string } });
    return { record: { check: body } };
  },
});
