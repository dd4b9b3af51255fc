import { defineCommand } from '../../../cli/define.ts';
import { offerList, offersOf } from '../../../orders/products/columns.ts';
import { productArgument } from '../../../orders/products/named.ts';
import { freshnessOptions, noResponse, noSuchProduct } from '../../../orders/products/search.ts';
import { paymentExit, payOptions } from '../pay-options.ts';
import { readPaid } from './read.ts';

export const offers = defineCommand({
  name: 'offers',
  summary: "List one product's offers, for a cent",
  arguments: [productArgument],
  options: { ...freshnessOptions, ...payOptions },
  examples: [
    {
      command: 'errand agent product offers $PRODUCT --retailer harborgoods',
      note: 'who sells it, for how much',
    },
  ],
  output: { list: 'Offer' },
  operations: ['agent.product.offers', 'retailer.check'],
  exitCodes: { 4: noSuchProduct, 6: paymentExit, 7: noResponse },
  related: ['agent product search', 'product offers'],
  async run(context, { id, ...requested }) {
    const payload = await readPaid(context, 'agent.product.offers', id, requested);
    return {
      kind: 'list',
      rows: offersOf(payload),
      ...offerList,
      id: 'offer_id',
      empty: payload.status === 'processing' ? 'processing; ask again in a moment' : 'no offers',
    };
  },
});
