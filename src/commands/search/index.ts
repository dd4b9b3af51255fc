import { defineRootCommand } from '../../cli/define.ts';
import { listings, priceBounds, searchOptions, wordsArgument } from '../../products/search.ts';

export const command = defineRootCommand({
  arguments: [wordsArgument],
  options: searchOptions,
  examples: [
    {
      command: "errand search coffee --max-price '$30' --sort price_asc --limit 5",
      note: 'the five cheapest under $30',
    },
    { command: 'errand search usb cable --limit 1 -o json --query [0].url', note: 'a URL to order' },
  ],
  operations: ['search'],
  related: ['retailer check', 'order create'],
  async run(context, { words, minPrice, maxPrice, ...rest }) {
    const q = words.join(' ');
    const client = await context.client();
    const { body } = await client.call('search', {
      query: { q, ...priceBounds({ minPrice, maxPrice }), ...rest },
    });
    return listings(q, body);
  },
});
