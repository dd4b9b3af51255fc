import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open.ts';
import type { Store } from '../../../src/sandbox/store/store.ts';
import { moneyOf } from '../../../src/spending/money-of-order.ts';
import { expectBalancedBooks } from '../../support/books.ts';
import { address } from '../../support/order-body.ts';
import { challengeFor, credentialOf } from '../../support/payer.ts';

const baseUrl = 'http://127.0.0.1:4848';
const far = 'https://www.bottegadiva.example/item';
/** Test products with every outcome, and listings whose euro prices and shipping make charges divide unevenly. */
const urls = [
  ...[
    'success',
    'two-packages',
    'out-of-stock',
    'cancelled-by-retailer',
    'slow',
    'never',
    'quantity-limit',
  ].map((slug) => `${baseUrl}/shop/test-${slug}`),
  ...[`${far}/8128074752`, `${far}/7404666560`, 'https://www.kesselundkanne.example/item/6916558016'],
];
const reasons = ['damaged', 'not_delivered', 'empty_box', 'forced_cancellation', 'other', 'no_longer_needed'];
const orderEvents = ['placed', 'failed', 'shipped', 'delivered', 'undeliverable', 'cancelled-by-retailer'];
const returnEvents = ['return-approved', 'return-denied', 'return-credited'];

const which = fc.nat(20);
const ceiling = fc.oneof(fc.constant(90_000), fc.nat(60_000));
const products = fc.array(
  fc.record({ url: fc.constantFrom(...urls), quantity: fc.integer({ min: 1, max: 3 }) }),
  { minLength: 1, maxLength: 3 },
);
const account = fc.option(fc.nat(1), { nil: undefined });
const mode = fc.constantFrom('wallet', 'wallet', 'card', 'connect');
const did = <K extends string>(name: K) => ({ do: fc.constant(name) });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ...did('order'), products, ceiling, mode, account }) },
  fc.record({ ...did('agent order'), products, ceiling }),
  fc.record({ ...did('bulk'), products, ceiling, account }),
  fc.record({ ...did('cancel'), which }),
  { weight: 2, arbitrary: fc.record({ ...did('trigger'), which, event: fc.constantFrom(...orderEvents) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...did('return'),
      which,
      reason: fc.constantFrom(...reasons),
      whole: fc.boolean(),
    }),
  },
  fc.record({ ...did('decide'), which, event: fc.constantFrom(...returnEvents) }),
  fc.record({ ...did('delete account'), which }),
  fc.record({ ...did('fund'), amount: fc.integer({ min: 1, max: 50_000 }) }),
  { weight: 2, arbitrary: fc.record({ ...did('wait'), ms: fc.nat(20_000) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const shipping_address = { ...address, country: 'DE', postal_code: '10115', state: null };

/** A sandbox whose clock only moves on `wait`, with every action available in it. */
async function place() {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const bugs: unknown[] = [];
  const opened = await openSandbox({
    file: ':memory:',
    baseUrl,
    seed: 1,
    now: () => now,
    report: (bug) => bugs.push(bug),
  });
  let key = '';
  const send = async (method: string, target: string, body?: unknown, authorization = `Bearer ${key}`) => {
    const response = await opened.handle({
      method,
      target,
      headers: { authorization },
      body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
    });
    expect(response.status, String(response.body)).toBeLessThan(500);
    const headers = new Headers();
    for (const [name, values] of Object.entries(response.headers))
      for (const value of [values].flat()) headers.append(name, value);
    const text = String(response.body ?? '');
    return { status: response.status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
  };
  key = (await send('POST', '/sandbox/keys')).body.api_key;
  const accounts: string[] = [];
  for (const email of ['one@example.com', 'two@example.com'])
    accounts.push((await send('POST', '/managed-accounts', { email, password: 'p' })).body.short_id);
  const idsOf = async (target: string, rows: string): Promise<string[]> =>
    (await send('GET', `${target}?limit=200`)).body[rows].map(({ id }: { id: string }) => id).toReversed();
  const pick = (ids: readonly string[], index: number): string =>
    ids[index % Math.max(1, ids.length)] ?? 'none';

  async function take(taken: Step): Promise<void> {
    const on = 'account' in taken &&
      taken.account !== undefined && { retailer_credentials_id: accounts[taken.account] };
    const orderId = 'which' in taken ? pick(await idsOf('/orders', 'orders'), taken.which) : '';
    if (taken.do === 'wait') now += taken.ms;
    else if (taken.do === 'order') {
      const { products, ceiling: max_price, mode } = taken;
      await send('POST', '/orders', { products, shipping_address, max_price, payment: { mode }, ...on });
    } else if (taken.do === 'agent order') await payByChallenge(taken);
    else if (taken.do === 'bulk') {
      const { first_name, last_name, state, ...cells } = shipping_address;
      const row = { ...cells, name: `${first_name} ${last_name}`, max_price: String(taken.ceiling), ...on };
      const rows = taken.products.map(({ url, quantity }) => ({ ...row, url, quantity: String(quantity) }));
      await send('POST', '/orders/bulk', { rows });
    } else if (taken.do === 'cancel') await send('POST', `/orders/${orderId}/cancel`);
    else if (taken.do === 'trigger')
      await send('POST', '/sandbox/trigger', { event: taken.event, id: orderId });
    else if (taken.do === 'fund')
      await send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: taken.amount });
    else if (taken.do === 'decide') {
      const id = pick(await idsOf('/returns', 'return_requests'), taken.which);
      await send('POST', '/sandbox/trigger', { event: taken.event, id });
    } else if (taken.do === 'delete account')
      await send('DELETE', `/managed-accounts/${pick(accounts, taken.which)}`);
    else await sendBack(orderId, taken);
  }

  async function payByChallenge({ products, ceiling }: Extract<Step, { do: 'agent order' }>): Promise<void> {
    const body = { products, shipping_address, max_price: ceiling };
    const challenged = await send('POST', '/agent/orders', body, '');
    if (!challenged.headers.has('www-authenticate')) return;
    const credential = credentialOf(challengeFor({ ...challenged }));
    expect((await send('POST', '/agent/orders', body, credential)).status).toBe(201);
    expect((await send('POST', '/agent/orders', body, credential)).status).toBe(409);
  }

  async function sendBack(
    order_id: string,
    { whole, which, reason }: Extract<Step, { do: 'return' }>,
  ): Promise<void> {
    const { items = [] } = (await send('GET', `/orders/${order_id}`)).body;
    const lines = items.map(({ id, quantity }: { id: string; quantity: number }) => ({
      order_item_id: id,
      quantity: whole ? quantity : 1,
    }));
    const some = whole ? lines : [lines[which % Math.max(1, lines.length)]];
    await send('POST', '/returns', { order_id, items: some, reason });
  }
  return { ...opened, bugs, take };
}

/** Checks each order's net wallet cost against its record: charge and fee, minus credited returns. */
function expectOrdersPaid(store: Store): void {
  const net = '(SELECT coalesce(sum(cents), 0) FROM ledger l WHERE l.order_id = o.id)';
  const paid = '(SELECT cents FROM payments p WHERE p.order_id = o.id)';
  const back = `(SELECT coalesce(-sum(cents), 0) FROM ledger l WHERE l.order_id = o.id AND kind = 'payout')`;
  for (const row of store.all(`SELECT o.*, ${net} AS net, ${paid} AS paid, ${back} AS back FROM orders o`)) {
    const order = JSON.parse(String(row.record));
    const price = row.wallet_paid === 1 ? order.job_result?.price_components : undefined;
    const charge: number = price?.converted_payment_total ?? price?.total ?? 0;
    const credited = order.returns.reduce(
      (sum: number, { credited_amount }: { credited_amount: number }) => sum + credited_amount,
      0,
    );
    const isOpen = ['pending', 'in_progress'].includes(order.status);
    const fee = Number(row.fee);
    const ended: Record<string, number> = {
      order_placed: credited - charge - fee,
      cancelled_by_retailer: 0 - fee,
    };
    const expected = row.paid === null ? (ended[order.status] ?? 0) : isOpen ? row.paid : 0;
    expect(row.net, `${order.status} ${row.record}`).toBe(expected);
    const kept = order.status === 'order_placed' ? charge + fee : 0;
    if (row.paid !== null && !isOpen) expect(row.back, order.status).toBe(Number(row.paid) - kept);
    expect(credited).toBeLessThanOrEqual(charge);
    if (!isOpen) expect(row.reserved).toBe(0);
    if (row.paid === null) expectSaid(order, fee, { net: 0 - Number(row.net), held: Number(row.reserved) });
  }
}

/** Checks that a client that sees only the record derives the ledger's sums. */
function expectSaid(order: unknown, feeCents: number, { net, held }: { net: number; held: number }): void {
  const { sums, due, isComplete } = moneyOf(order, { feeCents });
  const wallet = sums.find(({ payer }) => payer === 'wallet');
  expect({ net: wallet?.net ?? 0, held: wallet?.held ?? 0, due, isComplete }, JSON.stringify(order)).toEqual({
    net,
    held,
    due: [],
    isComplete: true,
  });
}

test('whatever orders, batches, accounts, agents and returns come to, each cent is paid once and given back once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
      const { service, take, bugs, close } = await place();
      for (const taken of [
        ...steps,
        { do: 'wait', ms: 600_000 } as const,
        { do: 'cancel', which: 0 } as const,
      ]) {
        await take(taken);
        expectBalancedBooks(service.store);
        expectOrdersPaid(service.store);
      }
      expect(bugs).toEqual([]);
      close();
    }),
    { numRuns: 40 },
  );
});
