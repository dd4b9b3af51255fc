import { operations } from '../../contract/operations/index.ts';
import { centsOf } from '../ceiling.ts';
import { defineCommand } from '../define.ts';
import { optionFor } from '../from-contract.ts';
import { listingColumns, searchHints } from '../listing-columns.ts';

const query = operations.search.query;

export const command = defineCommand({
  name: 'search',
  summary: 'Search orderable listings across retailers',
  arguments: [{ name: 'words', description: 'what to look for', required: true, variadic: true }],
  options: {
    retailer: optionFor(query.retailer),
    sort: optionFor(query.sort),
    minPrice: { kind: 'money', description: "lowest price: '$5' or 5.00" },
    maxPrice: { kind: 'money', description: "highest price: '$30' or 30.00" },
    limit: optionFor(query.limit),
  },
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
    const client = await context.client();
    const { body } = await client.call('search', {
      query: {
        q: words.join(' '),
        ...(minPrice !== undefined && { min_price: centsOf(context, '--min-price', minPrice) }),
        ...(maxPrice !== undefined && { max_price: centsOf(context, '--max-price', maxPrice) }),
        ...rest,
      },
    });
    return {
      kind: 'list',
      rows: body.results,
      columns: listingColumns,
      id: 'url',
      empty: `nothing found for "${words.join(' ')}"`,
      hints: () => searchHints(body.excluded_by_price, body.hint),
    };
  },
});
