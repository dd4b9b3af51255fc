import { operations } from '../../api/operations/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { listRows, moreHint } from '../../cli/list-command.ts';
import { resultList } from '../../orders/products/columns.ts';
import { productFacts } from '../../orders/products/named.ts';
import { UsageError } from '../../platform/errors.ts';
import { optionFor } from '../../run/from-contract.ts';

const { query } = operations['product.search'];

export const search = defineCommand({
  name: 'search',
  summary: "Search one retailer's products",
  description: 'A hosted storefront is named by its domain. It has one page and takes no --free-shipping.',
  arguments: [{ name: 'words', description: 'what to look for', required: true, variadic: true }],
  options: {
    retailer: optionFor(query.retailer, { completes: 'retailers' }),
    page: optionFor(query.page),
    limit: {
      kind: 'integer',
      min: 1,
      description: 'show at most so many; the retailer still sends whole pages',
    },
    freeShipping: { kind: 'flag', description: query.free_shipping.description },
    all: { kind: 'flag', description: 'page to the end' },
  },
  examples: [
    { command: 'errand product search usb cable --retailer harborgoods', note: 'the first page' },
    {
      command: 'errand product search tea --retailer harborgoods --limit 5',
      note: 'the first five of the page',
    },
    {
      command: 'errand product search tea --retailer harborgoods --all -o id | head -3',
      note: 'product ids, page after page',
    },
  ],
  output: { list: 'product.search' },
  operations: ['product.search'],
  related: ['search', 'retailer list', 'product get'],
  async run(context, { words, retailer, page, limit, freeShipping, all = false }) {
    if (retailer === undefined)
      throw new UsageError('--retailer is missing; `errand retailer list -o id` prints them');
    if (all && page !== undefined) throw new UsageError('--all and --page exclude each other');
    const requested = {
      query: words.join(' '),
      retailer,
      ...(page !== undefined && { page }),
      ...(freeShipping && { free_shipping: true }),
    };
    let shown = 0;
    const paged = await listRows(context, 'product.search', requested, all);
    return {
      kind: 'list',
      rows: limit === undefined ? paged.rows : first(limit),
      ...resultList,
      id: 'product_id',
      facts: productFacts(retailer),
      empty: `nothing on this page of ${retailer} for "${words.join(' ')}"`,
      // Print no paging hint once the limit that the user has set is reached.
      hints: () => (limit !== undefined && shown >= limit ? [] : moreHint(paged, 'products')),
    };

    async function* first(max: number) {
      for await (const row of paged.rows) {
        shown += 1;
        yield row;
        if (shown >= max) return;
      }
    }
  },
});
