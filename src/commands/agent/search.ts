import { operations } from '../../contract/operations/index.ts';
import { paidCall } from '../../paying/paid-call.ts';
import { centsOf } from '../ceiling.ts';
import { defineCommand } from '../define.ts';
import { optionFor } from '../from-contract.ts';
import { listingColumns, searchHints } from '../listing-columns.ts';
import { paymentExit, paymentFrom, payOptions } from './pay-options.ts';

const { query } = operations['agent.search'];

export const search = defineCommand({
  name: 'search',
  summary: 'Search orderable listings across retailers, for a cent',
  arguments: [{ name: 'words', description: 'what to look for', required: true, variadic: true }],
  options: {
    retailer: optionFor(query.retailer),
    sort: optionFor(query.sort),
    minPrice: { kind: 'money', description: "lowest price: '$5' or 5.00" },
    maxPrice: { kind: 'money', description: "highest price: '$30' or 30.00" },
    limit: optionFor(query.limit),
    ...payOptions,
  },
  examples: [
    { command: 'errand agent search coffee --limit 3', note: 'three listings, without an account' },
    {
      command: "errand agent search usb cable --max-price '$30' --limit 1 -o json --query [0].url",
      note: 'a URL to order',
    },
  ],
  operations: ['agent.search'],
  exitCodes: { 6: paymentExit },
  related: ['agent order create', 'search'],
  async run(context, { words, minPrice, maxPrice, retailer, sort, limit, ...pay }) {
    const q = words.join(' ');
    const body = await paidCall(
      context,
      'agent.search',
      {
        query: { retailer, sort, limit },
        body: {
          q,
          ...(minPrice && { min_price: centsOf(context, '--min-price', minPrice) }),
          ...(maxPrice && { max_price: centsOf(context, '--max-price', maxPrice) }),
        },
      },
      paymentFrom(pay),
    );
    return {
      kind: 'list',
      rows: body.results,
      columns: listingColumns,
      id: 'url',
      empty: `nothing found for "${q}"`,
      hints: () => searchHints(body.excluded_by_price, body.hint),
    };
  },
});
