import { ErrandError } from '../../errors.ts';
import { confirmSpending } from '../confirm-spending.ts';
import { defineCommand } from '../define.ts';
import { eachId, readIds } from '../ids.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: 'Retry failed orders as new order requests, once what stood in the way is gone',
  arguments: [
    {
      name: 'ids',
      description: 'ids of failed orders; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: { yes: { kind: 'flag', description: 'spend with a live key without being asked' } },
  examples: [{ command: 'errand legacy retry $FAILEDORDER', note: 'prints the id of the new order request' }],
  operations: ['legacy.retry'],
  exitCodes: { 10: 'in doubt: sent, and no answer came; look at the newest orders' },
  related: ['order get', 'order watch'],
  async run(context, { ids, yes = false }) {
    const wanted = await readIds(context, 'order id', ids);
    await confirmSpending(context, {
      yes,
      question: 'Order again with real money?',
      surface: 'legacy',
      lines: async () => wanted.map((id) => `  ${id}`),
    });
    const client = await context.client();
    return {
      kind: 'list',
      columns: [
        { name: 'order', path: 'order_id', kind: 'id', weight: 1 },
        { name: 'new request', path: 'request_id', kind: 'id', weight: 2 },
      ],
      id: 'request_id',
      empty: 'no order to retry',
      ...eachId(context, wanted, async (id) => {
        try {
          const { body } = await client.call('legacy.retry', { path: { request_id: id } });
          return { order_id: id, ...body };
        } catch (error) {
          throw error instanceof ErrandError && error.facts.outcome === 'unknown'
            ? inDoubt(error, id)
            : error;
        }
      }),
    };
  },
});

/** v1 knows no idempotency key: whether there is a new request, the newest orders tell. */
function inDoubt(error: ErrandError, id: string): ErrandError {
  const stopped = error.category === 'interrupted' || error.category === 'terminated';
  return new ErrandError(
    stopped ? error.category : 'in_doubt',
    `in doubt: the retry of ${id} was sent and no answer came (${error.message})`,
    {
      ...error.facts,
      cause: error,
      hint: 'Look whether a new order is there before you retry again: v1 has no key that would keep it from being made twice.',
      next: [{ command: 'errand order list --limit 5', when: 'to see the newest orders' }],
    },
  );
}
