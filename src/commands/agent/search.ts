import { defineCommand } from '../../cli/define.ts';
import { paidCall } from '../../orders/payments/paid-call.ts';
import { listings, priceBounds, searchOptions, wordsArgument } from '../../orders/products/search.ts';
import { paymentExit, paymentFrom, payOptions } from './pay-options.ts';

export const search = defineCommand({
  name: 'search',
  summary: 'Search orderable listings across retailers, for a cent',
  arguments: [wordsArgument],
  options: { ...searchOptions, ...payOptions },
  examples: [
    { command: 'errand agent search coffee --limit 3', note: 'three listings, without an account' },
    {
      command: "errand agent search usb cable --max-price '$30' --limit 1 -o json --query [0].url",
      note: 'a URL to order',
    },
  ],
  output: { list: 'agent.search' },
  operations: ['agent.search'],
  exitCodes: { 6: paymentExit },
  related: ['agent order create', 'search'],
  async run(context, { words, minPrice, maxPrice, retailer, sort, limit, ...pay }) {
    const q = words.join(' ');
    const query = { q, retailer, sort, limit, ...priceBounds({ minPrice, maxPrice }) };
    return listings(q, await paidCall(context, 'agent.search', { query }, paymentFrom(pay)));
  },
});
