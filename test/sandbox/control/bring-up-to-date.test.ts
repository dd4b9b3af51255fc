import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenSandbox, openSandbox } from '../../../src/sandbox/open.ts';
import { expectBalancedBooks } from '../books.ts';

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
    expect(bugs).toHaveLength(1);
    expect(await statusOf(broken)).toBe('pending');
    expect(bugs).toHaveLength(1);
    expect(store.all('SELECT DISTINCT kind FROM ledger WHERE order_id = ?', broken)).toEqual([]);
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
