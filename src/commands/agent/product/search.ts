import { numberIn, objectsIn } from '../../../api/json.ts';
import { operations } from '../../../api/operations/index.ts';
import { defineCommand } from '../../../cli/define.ts';
import { paidCall } from '../../../orders/payments/paid-call.ts';
import { resultList } from '../../../orders/products/columns.ts';
import { productFacts } from '../../../orders/products/named.ts';
import { UsageError } from '../../../platform/errors.ts';
import { optionFor } from '../../../run/from-contract.ts';
import { paymentExit, paymentFrom, payOptions } from '../pay-options.ts';

const { query } = operations['product.search'];

export const search = defineCommand({
  name: 'search',
  summary: "Search one retailer's products, for a cent a page",
  arguments: [{ name: 'words', description: 'what to look for', required: true, variadic: true }],
  options: {
    retailer: optionFor(query.retailer, { completes: 'retailers' }),
    page: optionFor(query.page),
    freeShipping: {
      kind: 'flag',
      description: operations['agent.product.search'].query.free_shipping.description,
    },
    ...payOptions,
  },
  examples: [
    { command: 'errand agent product search tea --retailer harborgoods', note: 'the first page' },
    {
      command: 'errand agent product search tea --retailer harborgoods --page 2 -o id',
      note: 'product ids of the second',
    },
  ],
  output: { list: 'agent.product.search' },
  operations: ['agent.product.search'],
  exitCodes: { 6: paymentExit },
  related: ['agent product get', 'product search'],
  async run(context, { words, retailer, page, freeShipping, ...pay }) {
    if (retailer === undefined)
      throw new UsageError('--retailer is missing; `errand retailer list -o id` prints them');
    const body = await paidCall(
      context,
      'agent.product.search',
      {
        query: {
          query: words.join(' '),
          retailer,
          ...(page !== undefined && { page }),
          ...(freeShipping && { free_shipping: true }),
        },
      },
      paymentFrom(pay),
    );
    const next = numberIn(body, 'next_page');
    return {
      kind: 'list',
      rows: objectsIn(body, 'results'),
      ...resultList,
      id: 'product_id',
      facts: productFacts(retailer),
      empty: `nothing on this page of ${retailer} for "${words.join(' ')}"`,
      hints: () => (next === undefined ? [] : [`more products: --page ${next}`]),
    };
  },
});
