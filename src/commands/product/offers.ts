import { defineCommand } from '../../cli/define.ts';
import { offerList, offersOf } from '../../orders/products/columns.ts';
import { productArgument } from '../../orders/products/named.ts';
import { freshnessOptions, noResponse, noSuchProduct } from '../../orders/products/search.ts';
import { readProduct, waitOption } from './read.ts';

export const offers = defineCommand({
  name: 'offers',
  summary: "List one product's offers",
  description: 'A hosted storefront has none.',
  arguments: [productArgument],
  options: { ...freshnessOptions, ...waitOption },
  examples: [
    { command: 'errand product offers $PRODUCT --retailer harborgoods', note: 'who sells it, for how much' },
    {
      command:
        "errand product offers $PRODUCT --retailer harborgoods -o json --query 'min_by(@, &price).seller.name'",
      note: 'the cheapest seller',
    },
  ],
  output: { list: 'Offer' },
  operations: ['product.offers', 'retailer.check'],
  exitCodes: { 4: noSuchProduct, 7: noResponse, 8: 'with --wait: --timeout passed' },
  related: ['product get', 'order create'],
  async run(context, { id, ...requested }) {
    const payload = await readProduct(context, 'product.offers', id, requested);
    return {
      kind: 'list',
      rows: offersOf(payload),
      ...offerList,
      id: 'offer_id',
      empty: payload.status === 'processing' ? 'processing; --wait polls until it is there' : 'no offers',
    };
  },
});
