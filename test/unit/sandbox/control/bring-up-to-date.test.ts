import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenSandbox, openSandbox } from '../../../../src/sandbox/open.ts';
import { expectBalancedBooks } from '../../../support/books.ts';
import { orderBody } from '../../../support/order-body.ts';
import { openStillSandbox } from '../../../support/still.ts';

describe('bringing about what is due', () => {
  let now: number;
  let opened: OpenSandbox;
  let bugs: unknown[];
  let key: string;
  beforeEach(async () => {
    now = Date.parse('2026-03-01T12:00:00Z');
    bugs = [];
    key = '';
    opened = await openSandbox({
      file: ':memory:',
      baseUrl: 'http://127.0.0.1:4848',
      now: () => now,
      report: (error) => bugs.push(error),
    });
    key = (await send('POST', '/sandbox/keys')).api_key;
  });
  afterEach(() => opened.close());

  const send = async (method: string, target: string, body?: unknown) => {
    const response = await opened.handle({
      method,
      target,
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
    });
    return JSON.parse(String(response.body));
  };

  const place = async (): Promise<string> => {
    const { example_order: example } = await send('POST', '/sandbox/keys');
    return (await send('POST', '/orders', example)).id;
  };

  const statusOf = async (id: string): Promise<string> => (await send('GET', `/orders/${id}`)).status;

  test('an order that cannot go on is reported once, and keeps no other from going on', async () => {
    const [broken, sound] = [await place(), await place()];
    const { store } = opened.service;
    await store.perform(
      "UPDATE orders SET record = json_set(record, '$.attempts', 'many') WHERE id = ?",
      broken,
    );
    now += 60_000;
    expect(await statusOf(sound)).toBe('order_placed');
    expect(bugs).toEqual([
      expect.stringMatching(
        new RegExp(`^order ${broken} cannot go on: [^\\n]+; it stays as it is, and is tried again later$`),
      ),
    ]);
    expect(await statusOf(broken)).toBe('pending');
    expect(bugs).toHaveLength(1);
    expect(store.all('SELECT DISTINCT kind FROM ledger WHERE order_id = ?', broken)).toEqual([]);
    expectBalancedBooks(store);
  });

  test('what could not go on is named, and tried again later: nothing is given up for good', async () => {
    const id = await place();
    const { store } = opened.service;
    const stuck = async (): Promise<unknown> => (await opened.service.control()).state.stuck;
    const setAttempts = (value: string) =>
      store.perform(
        "UPDATE orders SET record = json_set(record, '$.attempts', json(?)) WHERE id = ?",
        value,
        id,
      );
    await setAttempts('"many"');
    now += 60_000;
    expect(await statusOf(id)).toBe('pending');
    expect(await stuck()).toEqual([id]);
    // As after an upgrade or a bug fix.
    await setAttempts('0');
    now += 60 * 60_000;
    expect(await statusOf(id)).toBe('order_placed');
    expect(await stuck()).toEqual([]);
    expect(bugs).toHaveLength(1);
    expectBalancedBooks(store);
  });

  test('fields of a record that a newer version has written keep it from nothing, and stay', async () => {
    const id = await place();
    const { store } = opened.service;
    const setUnknown = `json_set(record, '$.newer', json('{"a":1}'), '$.items[0].newer', 'b', '$.shipping_address.newer', 'c')`;
    await store.perform(`UPDATE orders SET record = ${setUnknown} WHERE id = ?`, id);
    now += 60_000;
    expect(await send('GET', `/orders/${id}`)).toMatchObject({
      status: 'order_placed',
      newer: { a: 1 },
      items: [{ newer: 'b' }],
      shipping_address: { newer: 'c' },
    });
    const { items } = await send('GET', `/orders/${id}`);
    const made = await send('POST', '/returns', {
      order_id: id,
      reason: 'damaged',
      items: [{ order_item_id: items[0].id, quantity: 1 }],
    });
    await store.perform("UPDATE returns SET record = json_set(record, '$.newer', 'd') WHERE id = ?", made.id);
    now += 60_000;
    expect(await send('GET', `/returns/${made.id}`)).toMatchObject({ status: 'credited', newer: 'd' });
    expect(bugs).toEqual([]);
    expectBalancedBooks(store);
  });

  test('more orders than one batch holds are all brought up to date by one request', async () => {
    const first = await place();
    const { store } = opened.service;
    const columns = `user_id, created_at, status, recipient, created_by, reserved, fee, wallet_paid, record, listed, body, plan, next_due`;
    await store.transaction(() => {
      for (let copy = 0; copy < 450; copy += 1) {
        store.run(
          `INSERT INTO orders (id, idempotency_key, ${columns}) SELECT ?, ?, ${columns} FROM orders WHERE id = ?`,
          `copy-${copy}`,
          `copy-${copy}`,
          first,
        );
      }
    });
    now += 60_000;
    await send('GET', '/wallet/me');
    expect(store.get("SELECT count(*) AS rows FROM orders WHERE status = 'order_placed'")?.rows).toBe(451);
    expect(store.get('SELECT count(*) AS rows FROM orders WHERE next_due IS NOT NULL')?.rows).toBe(0);
    expect(bugs).toEqual([]);
  });
});

describe('a served sandbox with more that is due than a read waits for', () => {
  /** More than three reads can process, however fast: a read takes at most 20. */
  const count = 100;
  const url = 'http://127.0.0.1:4848/shop/test-price-exceeded';
  const cents = 5000 + 100;

  /** Orders that will fail once due, and that reserve the entire wallet. */
  async function crowded() {
    const sandbox = await openStillSandbox({ readBudgetMs: 0, startBalanceCents: count * cents });
    const key = `Bearer ${(await sandbox.send('POST', '/sandbox/keys')).body.api_key}`;
    const send = (method: string, target: string, body?: unknown) => sandbox.send(method, target, body, key);
    for (let made = 0; made < count; made += 1) await send('POST', '/orders', orderBody(url));
    // Advance in small steps, so that it does not count as a clock jump.
    const { clock, readBudget } = sandbox.service;
    for (let steps = 0; steps < 100; steps += 1) {
      sandbox.pass(400);
      readBudget.forRead(clock.now());
    }
    const pending = (): number =>
      Number(
        sandbox.service.store.get('SELECT count(*) AS rows FROM orders WHERE next_due IS NOT NULL')?.rows,
      );
    return { ...sandbox, send, pending };
  }

  test('reads bring a part of it about each, and a write that changes an order all of it', async () => {
    const { send, pending, close, bugs } = await crowded();
    const left = [];
    for (let reads = 0; reads < 3; reads += 1) {
      await send('GET', '/wallet/me');
      left.push(pending());
    }
    expect(left[0]).toBeGreaterThan(left[2] ?? count);
    expect(left[2]).toBeGreaterThan(0);
    await send('POST', '/orders/00000000-0000-4000-8000-000000000000/cancel');
    expect(pending()).toBe(0);
    await close();
    expect(bugs).toEqual([]);
  });

  test('a read after a leap of the clock finds all that it has made due', async () => {
    const { send, pending, pass, close, bugs } = await crowded();
    pass(1_000);
    await send('GET', '/wallet/me');
    expect(pending()).toBe(0);
    await close();
    expect(bugs).toEqual([]);
  });

  test('an order that is short of money waits for what sets it free', async () => {
    const { send, close, service, bugs } = await crowded();
    const order = { ...orderBody(url), max_price: count * cents - 100 };
    expect((await send('POST', '/orders', order)).status).toBe(201);
    expect((await send('POST', '/orders', order)).body.code).toBe('insufficient_funds');
    expectBalancedBooks(service.store);
    await close();
    expect(bugs).toEqual([]);
  });
});
