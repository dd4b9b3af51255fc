import { expect, test } from 'vitest';
import { expectBalancedBooks } from '../../../support/books.ts';
import { address } from '../../../support/order-body.ts';
import { challengeFor, credentialOf } from '../../../support/payer.ts';
import { openStillSandbox } from '../../../support/still.ts';

/** A sandbox with a frozen clock, and orders in it paid by challenge. */
async function place() {
  const sandbox = await openStillSandbox();
  const { send } = sandbox;
  const order = async (slug: string, more: Record<string, unknown> = {}) => {
    const body = {
      products: [{ url: `http://127.0.0.1:4848/shop/${slug}` }],
      shipping_address: address,
      max_price: 5_000,
      ...more,
    };
    const authorization = credentialOf(challengeFor(await send('POST', '/agent/orders', body)));
    return { ...(await send('POST', '/agent/orders', body, authorization)), authorization };
  };
  /** The order's ledger rows, as pairs of kind and cents. */
  const books = (orderId: string) =>
    sandbox.service.store
      .all('SELECT kind, cents FROM ledger WHERE order_id = ? ORDER BY seq', orderId)
      .map(({ kind, cents }) => [kind, cents]);
  return { ...sandbox, order, books };
}

test.each([
  [
    'test-success',
    'order_placed',
    [
      ['fee', -100],
      ['purchase', -1_999],
      ['payout', -3_001],
    ],
  ],
  ['test-out-of-stock', 'order_failed', [['payout', -5_100]]],
  ['test-price-exceeded', 'order_failed', [['payout', -5_100]]],
  [
    'test-cancelled-by-retailer',
    'cancelled_by_retailer',
    [
      ['fee', -100],
      ['purchase', -1_999],
      ['payout', -3_001],
      ['refund', 1_999],
      ['refund', 100],
      ['payout', -2_099],
    ],
  ],
])('%s, paid by challenge, ends %s with its books at zero', async (slug, status, rows) => {
  const { order, send, pass, books, service, bugs, close } = await place();
  const made = await order(slug);
  expect(made.status).toBe(201);
  expect(books(made.body.id)).toEqual([['payment', 5_100]]);
  expectBalancedBooks(service.store);
  pass(120_000);
  const key = `Bearer ${made.headers.get('x-api-key')}`;
  expect((await send('GET', `/orders/${made.body.id}`, undefined, key)).body.status).toBe(status);
  expect(books(made.body.id)).toEqual([['payment', 5_100], ...rows]);
  expect(books(made.body.id).reduce((sum, [, cents]) => sum + Number(cents), 0)).toBe(0);
  expectBalancedBooks(service.store);
  expect(bugs).toEqual([]);
  close();
});

test('an order that is still open keeps what was paid for it', async () => {
  const { order, pass, send, books, service, close } = await place();
  const made = await order('test-never');
  pass(120_000);
  await send('GET', '/orders/test-products');
  expect(books(made.body.id)).toEqual([['payment', 5_100]]);
  expectBalancedBooks(service.store);
  close();
});

test('a max_price of 0 is paid with the fee alone, and comes back whole when the order fails', async () => {
  const { order, pass, send, books, close } = await place();
  const made = await order('test-success', { max_price: 0 });
  expect(made.status).toBe(201);
  pass(120_000);
  await send('GET', '/retailers');
  expect(books(made.body.id)).toEqual([
    ['payment', 100],
    ['payout', -100],
  ]);
  close();
});

test('the fee of the route is the contract’s, whatever the wallet’s fee is set to', async () => {
  const { service, order, pass, send, books, close } = await place();
  Object.assign(service.config, { orderFeeCents: 250 });
  const made = await order('test-success');
  expect(made.status).toBe(201);
  pass(120_000);
  await send('GET', '/retailers');
  expect(books(made.body.id)).toContainEqual(['fee', -100]);
  close();
});

test('a refused payment leaves no row behind', async () => {
  const { send, order, service, close } = await place();
  const { authorization } = await order('test-success');
  const count = (table: string) => Number(service.store.get(`SELECT count(*) AS n FROM ${table}`)?.n);
  const before = ['users', 'wallets', 'ledger', 'payments', 'api_keys', 'orders'].map(count);
  const other = {
    products: [{ url: 'http://127.0.0.1:4848/shop/test-slow' }],
    shipping_address: address,
    max_price: 5_000,
  };
  expect((await send('POST', '/agent/orders', other, authorization)).status).toBe(402);
  expect((await send('POST', '/agent/orders', other)).status).toBe(402);
  expect(['users', 'wallets', 'ledger', 'payments', 'api_keys', 'orders'].map(count)).toEqual(before);
  close();
});

test('neither the key behind the challenges nor a temporary key stands in the store in clear', async () => {
  const { order, service, close } = await place();
  const { headers } = await order('test-success');
  const kept = JSON.stringify([
    service.store.all('SELECT * FROM meta'),
    service.store.all('SELECT * FROM api_keys'),
    service.store.all('SELECT * FROM payments'),
  ]);
  expect(kept).not.toContain(headers.get('x-api-key'));
  expect(service.store.meta('payment_secret')?.length).toBeGreaterThan(60);
  close();
});

test('of requests that present one credential in the same moment one is paid for, and none is a bug', async () => {
  const { send, bugs, service, close } = await place();
  const order = {
    products: [{ url: 'http://127.0.0.1:4848/shop/test-success' }],
    shipping_address: address,
    max_price: 5_000,
  };
  for (const [target, body, statuses] of [
    ['/agent/orders', order, [201, 409, 409]],
    ['/agent/search', { q: 'coffee' }, [200, 402, 402]],
  ] as const) {
    const authorization = credentialOf(challengeFor(await send('POST', target, body)));
    const responses = await Promise.all([1, 2, 3].map(() => send('POST', target, body, authorization)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual(statuses);
  }
  expect(service.store.all('SELECT operation, cents FROM payments ORDER BY cents')).toEqual([
    { operation: 'agent.search', cents: 1 },
    { operation: 'agent.order.create', cents: 5_100 },
  ]);
  expectBalancedBooks(service.store);
  expect(bugs).toEqual([]);
  close();
});
