import { objectsIn } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { productFacts } from '../../orders/products/named.ts';

export const products = defineCommand({
  name: 'products',
  summary: 'Product URLs that rehearse outcomes',
  examples: [
    { command: 'errand sandbox products', note: 'every outcome that can be rehearsed' },
    { command: 'errand sandbox products -o id | grep test-out-of-stock', note: 'the URL for one of them' },
  ],
  output: { list: 'order.testProducts' },
  operations: ['order.testProducts'],
  related: ['order create'],
  async run(context) {
    const { body } = await (await context.client()).call('order.testProducts', {});
    return {
      kind: 'list',
      rows: objectsIn(body, 'products'),
      id: 'url',
      facts: productFacts(),
      columns: [
        { name: 'scenario', path: 'scenario', weight: 10 },
        { name: 'what happens', path: 'description', weight: 9, isProse: true },
        { name: 'refused at once', path: 'is_synchronous_error', kind: 'flag', weight: 5 },
        { name: 'url', path: 'url', kind: 'url', names: 'products', weight: 8 },
        { name: 'name', path: 'name', weight: 1 },
      ],
      screen: [
        { name: 'scenario', path: 'scenario', weight: 10, isProse: true, minWidth: 14 },
        { name: 'what happens', path: 'description', weight: 9, isProse: true },
      ],
      empty: 'this service names no test products',
    };
  },
});
