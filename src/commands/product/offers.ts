import type { Row } from '../../output/result.ts';
import { defineCommand } from '../define.ts';
import { offerColumns } from './columns.ts';
import { readOptions } from './freshness-options.ts';
import { readProduct } from './read.ts';

export const offers = defineCommand({
  name: 'offers',
  summary: "List one product's offers",
  description: 'A hosted storefront has none.',
  arguments: [{ name: 'id', description: "the retailer's product id", required: true }],
  options: readOptions,
  examples: [
    { command: 'errand product offers $PRODUCT --retailer harborgoods', note: 'who sells it, for how much' },
    {
      command:
        "errand product offers $PRODUCT --retailer harborgoods -o json --query 'min_by(@, &price).seller.name'",
      note: 'the cheapest seller',
    },
  ],
  operations: ['product.offers'],
  exitCodes: { 7: 'the retailer has no such product', 8: 'with --wait: --timeout passed' },
  related: ['product get', 'order create'],
  async run(context, { id, ...wanted }) {
    const payload = await readProduct(context, 'product.offers', id, wanted);
    const { offers: rows } = payload;
    return {
      kind: 'list',
      rows: Array.isArray(rows) ? rows.filter(isRow) : [],
      columns: offerColumns,
      id: 'offer_id',
      empty: payload.status === 'processing' ? 'processing; --wait polls until it is there' : 'no offers',
    };
  },
});

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null;
