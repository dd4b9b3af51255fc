import { expect, test } from 'vitest';
import { moneyOf } from '../../../src/spending/money-of-order.ts';
import { partsOfPrice } from '../../../src/spending/price-of-order.ts';
import { address } from '../../support/order-body.ts';
import { challengeFor, credentialOf } from '../../support/payer.ts';
import { openStillSandbox } from '../../support/still.ts';

const feeCents = 100;

/** An order of the real sandbox, both at creation and once it is final. */
async function orderOf(slug: string, more: Record<string, unknown> = {}) {
  const { send, pass, close } = await openStillSandbox();
  const key = `Bearer ${(await send('POST', '/sandbox/keys')).body.api_key}`;
  const account = await send('POST', '/managed-accounts', { email: 'a@example.com', password: 'p' }, key);
  const body = {
    products: [{ url: `http://127.0.0.1:4848/shop/${slug}` }],
    shipping_address: address,
    max_price: 5_000,
    ...more,
    ...(more.account === true && { account: undefined, retailer_credentials_id: account.body.short_id }),
  };
  const made = await send('POST', '/orders', body, key);
  expect(made.status, made.text).toBe(201);
  pass(120_000);
  const read = async () => (await send('GET', `/orders/${made.body.id}`, undefined, key)).body;
  const ended = await read();
  return { opened: made.body, ended, send, pass, read, key, close };
}

const sum = (net: number, parts: Record<string, number>) => ({
  ...{ held: 0, charged: 0, fee: 0, refunded: 0, credited: 0, currency: 'USD' },
  ...parts,
  net,
});

test.each([
  ['test-success', {}, [sum(2_099, { charged: 1_999, fee: 100 })]],
  ['test-out-of-stock', {}, []],
  ['test-price-exceeded', {}, []],
  ['test-cancelled-by-retailer', {}, [sum(100, { charged: 1_999, fee: 100, refunded: 1_999 })]],
])('%s, paid from the wallet, comes to %j %j', async (slug, more, sums) => {
  const { opened, ended, close } = await orderOf(slug, more);
  const open = moneyOf(opened, { feeCents });
  expect(open).toMatchObject({ isOpen: true, payer: 'wallet', sums: [{ held: 5_100, net: 0 }] });
  const money = moneyOf(ended, { feeCents });
  expect(money).toMatchObject({ isOpen: false, isComplete: true, due: [] });
  expect(money.sums).toEqual(sums.map((one) => ({ payer: 'wallet', ...one })));
  // Services send null, "" or no field for no account.
  const { retailer_credentials_id: _, ...absent } = ended;
  expect(moneyOf({ ...ended, retailer_credentials_id: '' }, { feeCents })).toEqual(money);
  expect(moneyOf({ ...opened, retailer_credentials_id: '' }, { feeCents })).toEqual(open);
  expect(moneyOf(absent, { feeCents })).toEqual(money);
  close();
});

test.each([
  [
    'card',
    { payment: { mode: 'card' } },
    [{ payer: 'card', charged: 1_999, fee: 100, net: 2_099 }],
    [{ payer: 'card', charged: 1_999, fee: 100, refunded: 2_099, net: 0 }],
  ],
  [
    'connect',
    { payment: { mode: 'connect', margin: { type: 'flat', value: 250 } } },
    [
      { payer: 'connect', charged: 2_249, net: 2_249 },
      { payer: 'wallet', fee: 100, net: 100 },
    ],
    [
      { payer: 'connect', charged: 2_249, refunded: 2_249, net: 0 },
      { payer: 'wallet', fee: 100, net: 100 },
    ],
  ],
  [
    'retailer_account',
    { account: true },
    [
      { payer: 'retailer_account', charged: 1_999, net: 1_999 },
      { payer: 'wallet', fee: 100, net: 100 },
    ],
    [
      { payer: 'retailer_account', charged: 1_999, refunded: 1_999, net: 0 },
      { payer: 'wallet', fee: 100, net: 100 },
    ],
  ],
])('goods paid by %s stand apart from the wallet', async (payer, more, placed, undone) => {
  for (const [slug, sums] of [
    ['test-success', placed],
    ['test-cancelled-by-retailer', undone],
  ] as const) {
    const { ended, close } = await orderOf(slug, more);
    const money = moneyOf(ended, { feeCents });
    expect(money).toMatchObject({ payer, sums, due: [], isComplete: true });
    close();
  }
});

test.each([
  ['test-success', [{ charged: 5_000, fee: 100, refunded: 3_001, net: 2_099 }]],
  ['test-out-of-stock', [{ charged: 5_000, fee: 100, refunded: 5_100, net: 0 }]],
  ['test-cancelled-by-retailer', [{ charged: 5_000, fee: 100, refunded: 5_100, net: 0 }]],
])('%s, paid by challenge: what it did not cost comes back', async (slug, sums) => {
  const { send, pass, close } = await openStillSandbox();
  const products = [{ url: `http://127.0.0.1:4848/shop/${slug}` }];
  const body = { products, shipping_address: address, max_price: 5_000 };
  const credential = credentialOf(challengeFor(await send('POST', '/agent/orders', body)));
  const made = await send('POST', '/agent/orders', body, credential);
  const known = { feeCents, paid: { amount: '5100', currency: 'usd' } };
  expect(moneyOf(made.body, known)).toMatchObject({ payer: 'challenge', isOpen: true, due: [] });
  pass(120_000);
  const key = `Bearer ${made.headers.get('x-api-key')}`;
  const { body: ended } = await send('GET', `/orders/${made.body.id}`, undefined, key);
  expect(moneyOf(ended, known)).toMatchObject({ payer: 'challenge', sums, due: [], isComplete: true });
  const silent = { ...ended, job_result: { ...ended.job_result, refunds: [] } };
  const { due } = moneyOf(silent, known);
  expect(due).toMatchObject([
    { what: 'refund', payer: 'challenge', cents: slug === 'test-success' ? 3_001 : 5_000 },
  ]);
  close();
});

test('a return brings what the order paid, and one that counts as credited without a cent is due', async () => {
  const { ended, send, pass, read, key, close } = await orderOf('test-success');
  const items = [{ order_item_id: ended.items[0].id, quantity: 1 }];
  const returned = await send('POST', '/returns', { order_id: ended.id, items, reason: 'damaged' }, key);
  expect(returned.status).toBe(201);
  pass(60_000);
  const credited = await read();
  const money = moneyOf(credited, { feeCents });
  expect(money.sums).toMatchObject([{ charged: 1_999, fee: 100, credited: 1_999, net: 100 }]);
  expect(money.lines.at(-1)).toMatchObject({
    what: 'credit',
    cents: -1_999,
    basis: 'observed',
    returnId: returned.body.id,
  });
  expect(money.due).toEqual([]);
  const unpaid = { ...credited, returns: [{ ...credited.returns[0], credited_amount: 0 }] };
  expect(moneyOf(unpaid, { feeCents }).due).toMatchObject([{ what: 'credit', returnId: returned.body.id }]);
  close();
});

test('what only follows from a rule is said to', async () => {
  const { ended, close } = await orderOf('test-cancelled-by-retailer');
  const basis = moneyOf(ended, { feeCents }).lines.map((line) => [line.what, line.basis]);
  expect(basis).toEqual([
    ['charge', 'observed'],
    ['refund', 'by_rule'],
    ['fee', 'by_rule'],
  ]);
  close();
});

test('a card that is still charged for an order that failed is due', () => {
  const payment = { mode: 'card', state: 'captured', captured_cents: 2_099, fee_cents: 100 };
  const { due } = moneyOf({ status: 'order_failed', payment }, { feeCents });
  expect(due).toMatchObject([{ what: 'refund', cents: 2_099, payer: 'card' }]);
});

test('an order in another currency is paid in what the wallet was charged', async () => {
  const url = 'https://www.bottegadiva.example/item/8128074752';
  const { ended, close } = await orderOf('', {
    products: [{ url }],
    max_price: 90_000,
    shipping_address: { ...address, country: 'DE', postal_code: '10115', state: null },
  });
  const price = ended.job_result.price_components;
  expect(price.currency).toBe('EUR');
  const money = moneyOf(ended, { feeCents });
  expect(money.sums).toMatchObject([{ currency: 'USD', charged: price.converted_payment_total, fee: 100 }]);
  const parts = partsOfPrice(ended) ?? [];
  expect(parts.reduce((total, { cents }) => total + cents, 0)).toBe(price.total);
  close();
});

test.each([
  [{}, false],
  [{ status: 'order_placed' }, false],
  [{ status: 'order_placed', job_result: { price_components: { total: -5 } } }, false],
  [{ status: 'order_placed', job_result: { price_components: { total: 1e300 } } }, false],
  [{ status: 'shipped to the moon' }, false],
  [{ status: 'order_failed', returns: 'none', payment: [], connect: 7 }, true],
])('a record that lacks what it takes is not complete: %j', (order, isComplete) => {
  expect(moneyOf(order, { feeCents }).isComplete).toBe(isComplete);
});

test('parts of a price add up to its total, and what nobody itemised is said', () => {
  const price = {
    total: 1_000,
    subtotal: 800,
    tax: 100,
    shipping: 50,
    discount: 20,
    fees: 30,
    cart_items: null,
  };
  const parts = partsOfPrice({ job_result: { price_components: { ...price, breakdown_recorded: true } } });
  expect(parts).toContainEqual({ part: 'not itemised', cents: 40 });
  expect(parts?.reduce((total, { cents }) => total + cents, 0)).toBe(1_000);
  expect(
    partsOfPrice({ job_result: { price_components: { ...price, breakdown_recorded: false } } }),
  ).toBeUndefined();
});

test('an amount that a service spells as text counts as the number it is', async () => {
  const { opened, close } = await orderOf('test-slow');
  const spelled = { ...opened, max_price: String(opened.max_price) };
  expect(moneyOf(spelled, { feeCents })).toEqual(moneyOf(opened, { feeCents }));
  expect(moneyOf(spelled, { feeCents }).sums).toMatchObject([{ held: 5_100 }]);
  await close();
});
