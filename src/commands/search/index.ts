import { operations } from '../../contract/operations/index.ts';
import type { Column } from '../../output/result.ts';
import { centsOf } from '../ceiling.ts';
import { defineCommand } from '../define.ts';
import { optionFor } from '../from-contract.ts';

const query = operations.search.query;

const columns: readonly Column[] = [
  { name: 'title', path: 'title', weight: 9 },
  { name: 'price', path: 'price', kind: 'money', currency: 'currency_code', weight: 10 },
  { name: 'retailer', path: 'retailer', weight: 7 },
  { name: 'stars', path: 'stars', weight: 4 },
  { name: 'reviews', path: 'num_reviews', kind: 'count', weight: 3 },
  { name: 'free shipping', path: 'free_shipping', kind: 'flag', weight: 2 },
  { name: 'available', path: 'available', kind: 'flag', weight: 1 },
  { name: 'url', path: 'url', weight: 8 },
];

export const command = defineCommand({
  name: 'search',
  summary: 'Search orderable listings across retailers',
  arguments: [{ name: 'words', description: 'what to look for', required: true, variadic: true }],
  options: {
    retailer: optionFor(query.retailer),
    sort: optionFor(query.sort),
    minPrice: { kind: 'money', description: query.min_price.description },
    maxPrice: { kind: 'money', description: query.max_price.description },
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
      columns,
      id: 'url',
      empty: `nothing found for "${words.join(' ')}"`,
      hints: () => searchHints(body.excluded_by_price, body.hint),
    };
  },
});

function searchHints(excluded: number | undefined, hint: string | null | undefined): string[] {
  const dropped = excluded ? [`${excluded} more outside the price bounds`] : [];
  return hint ? [...dropped, hint] : dropped;
}
