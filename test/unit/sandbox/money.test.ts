import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectBalancedBooks } from '../../support/books.ts';
import { address } from '../../support/order-body.ts';
import { openStillSandbox } from '../../support/still.ts';

const slugs = [
  'test-success',
  'test-out-of-stock',
  'test-price-exceeded',
  'test-cancelled-by-retailer',
  'test-slow',
  'test-never',
];
const modes = ['wallet', 'card', 'connect'];

const step = fc.oneof(
  fc.record({
    do: fc.constant('order' as const),
    slug: fc.constantFrom(...slugs),
    mode: fc.constantFrom(...modes),
    ceiling: fc.integer({ min: 0, max: 60_000 }),
  }),
  fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
);

/** A sandbox with a frozen clock and one account. */
async function place() {
  const sandbox = await openStillSandbox();
  const { api_key: key } = (await sandbox.send('POST', '/sandbox/keys')).body;
  const send = (method: string, target: string, body?: unknown) =>
    sandbox.send(method, target, body, `Bearer ${key}`);
  const order = (slug: string, mode: string, ceiling: number) =>
    send('POST', '/orders', {
      products: [{ url: `http://127.0.0.1:4848/shop/${slug}` }],
      shipping_address: address,
      max_price: ceiling,
      payment: { mode },
    });
  return { ...sandbox, send, order };
}

/** What an order costs the wallet by outcome, cents. */
const costs = async (mode: string, slug: string, ceiling = 5_000): Promise<number> => {
  const { order, send, pass, close } = await place();
  expect((await order(slug, mode, ceiling)).status).toBe(201);
  pass(120_000);
  const { balance, spendable_balance } = (await send('GET', '/wallet/me')).body;
  expect(spendable_balance).toBe(balance);
  close();
  return 100_000 - balance;
};

test.each([
  ['wallet', 'test-success', 1_999 + 100],
  ['wallet', 'test-out-of-stock', 0],
  ['wallet', 'test-cancelled-by-retailer', 100],
  ['card', 'test-success', 0],
  ['card', 'test-cancelled-by-retailer', 0],
  ['connect', 'test-success', 100],
])('paid by %s, %s costs the wallet %i cents', async (mode, slug, cents) => {
  expect(await costs(mode, slug)).toBe(cents);
});

test('a card order pays its fee on the card, whatever the wallet holds', async () => {
  const { order, send, pass, close } = await place();
  const { body } = await order('test-success', 'card', 1_000_000);
  pass(60_000);
  const { payment } = (await send('GET', `/orders/${body.id}`)).body;
  expect(payment).toMatchObject({ state: 'captured', fee_cents: 100, captured_cents: 1_999 + 100 });
  close();
});

test('whatever is ordered, cancelled and waited for, the books balance and nothing is overspent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
      const { service, send, order, pass, bugs, close } = await place();
      const ids: string[] = [];
      for (const taken of steps) {
        if (taken.do === 'wait') pass(taken.ms);
        else if (taken.do === 'cancel') {
          const id = ids[taken.which % Math.max(1, ids.length)];
          if (id !== undefined)
            expect([204, 400]).toContain((await send('POST', `/orders/${id}/cancel`)).status);
        } else {
          const { status, body } = await order(taken.slug, taken.mode, taken.ceiling);
          expect([201, 402]).toContain(status);
          if (status === 201) ids.push(body.id);
        }
        expectBalancedBooks(service.store);
      }
      pass(600_000);
      await send('GET', '/wallet/me');
      expectBalancedBooks(service.store);
      const open = service.store.all(
        "SELECT status FROM orders WHERE reserved > 0 AND status <> 'in_progress'",
      );
      expect(open).toEqual([]);
      expect(bugs).toEqual([]);
      close();
    }),
    { numRuns: 40 },
  );
});
