import { expect, test } from 'vitest';
import { eachInOrder } from '../../../src/bulk/withdraw/each-in-order.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { ErrandError } from '../../../src/platform/errors.ts';

test('an interruption between two rows is told as one that leaves the rest to the same command', async () => {
  const controller = new AbortController();
  const items = ['first', 'second', 'third', 'fourth', 'fifth'];
  const errors: ErrandError[] = [];
  const rows: string[] = [];
  const all = eachInOrder(
    { clock: systemClock, signal: controller.signal },
    items,
    {
      group: (item) => item,
      act: async (item) => {
        controller.abort(new ErrandError('interrupted', 'interrupted'));
        return `${item} is done`;
      },
      failed: (item) => ({ row: `${item} has failed`, goesOn: false }),
      untried: (item) => `${item} is not tried`,
      isDone: () => true,
    },
    (error) => errors.push(error),
  );
  for await (const row of all) rows.push(row);
  expect(rows).toEqual(['first is done', ...items.slice(1).map((item) => `${item} is not tried`)]);
  expect(errors).toMatchObject([
    {
      category: 'interrupted',
      facts: {
        outcome: 'unknown',
        retryable: true,
        hint: expect.stringContaining('The same command goes on'),
      },
    },
  ]);
});
