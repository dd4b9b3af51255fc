import { operations } from '../../api/operations/index.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { namedProduct, productArgument } from '../../orders/products/named.ts';
import {
  freshnessFields,
  freshnessOptions,
  noProduct,
  noResponse,
  noSuchProduct,
} from '../../orders/products/search.ts';
import { optionFor } from '../../run/from-contract.ts';

const { query } = operations['legacy.product'];

const columns: readonly Column<Shape<'LegacyProductDetails'>>[] = [
  { name: 'status', path: 'status', kind: 'status', weight: 1 },
  { name: 'product id', path: 'product_id', weight: 9 },
  { name: 'retailer', path: 'retailer', weight: 8 },
  { name: 'title', path: 'title', weight: 10 },
  { name: 'brand', path: 'brand', weight: 6 },
  { name: 'price', path: 'price', kind: 'money', weight: 7 },
  { name: 'orderable', path: 'buyapi_hint', kind: 'flag', weight: 5 },
  { name: 'description', path: 'product_description', weight: 2 },
];

export const product = defineCommand({
  name: 'product',
  summary: "Read one product's v1 record",
  description: 'HTTP Basic with the client token: ERRAND_LEGACY_TOKEN, or `errand auth token --legacy`.',
  arguments: [productArgument],
  options: {
    ...freshnessOptions,
    // The legacy surface has its own limits.
    retailer: optionFor(query.retailer, { completes: 'retailers' }),
    maxAge: { ...optionFor(query.max_age), description: freshnessOptions.maxAge.description },
  },
  examples: [
    { command: 'errand legacy product $PRODUCT --retailer harborgoods', note: 'the v1 record' },
    {
      command: 'errand legacy product $PRODUCT --retailer harborgoods -o json --query feature_bullets',
      note: 'one field of it',
    },
  ],
  output: { record: 'legacy.product' },
  operations: ['legacy.product', 'retailer.check'],
  exitCodes: { 4: noSuchProduct, 7: noResponse },
  related: ['product get'],
  async run(context, { id, async: soon = false, ...requested }) {
    const { newerThan } = requested;
    const { productId, retailer } = await namedProduct(context, id, requested.retailer);
    const fields = {
      ...freshnessFields({ ...requested, retailer }),
      // The legacy surface takes fractional seconds.
      ...(newerThan !== undefined && { newer_than: Date.parse(newerThan) / 1000 }),
    };
    const client = await context.client();
    const { body } = await client.call('legacy.product', {
      path: { product_id: productId },
      query: { ...fields, ...(soon && { async: true }) },
    });
    if (body.status !== 'failed') return { kind: 'record', record: body, columns, id: 'product_id' };
    throw noProduct(productId, body);
  },
});
