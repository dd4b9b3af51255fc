import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { loadSqlite } from '../../../../src/platform/sqlite/load.ts';
import { openSandbox } from '../../../../src/sandbox/open.ts';
import { migrations } from '../../../../src/sandbox/store/migrations.ts';
import { makeFolder } from '../../../support/folder.ts';

const key = 'sbx_test_before';
const now = Date.parse('2026-03-01T12:00:00Z');
const time = new Date(now).toISOString();
const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

let folder: ReturnType<typeof makeFolder>;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

/** Number of migrations before records took their current shape. */
const before = migrations.findIndex((sql) => sql.includes('users_number'));

const summary = (status: string) => ({
  id: id(4),
  status,
  reason: 'damaged',
  credited_amount: 0,
  created_at: time,
  updated_at: time,
});

const orderOf = (more: object) => ({
  id: id(2),
  status: 'order_placed',
  max_price: 5000,
  attempts: 1,
  items: [],
  shipping_address: {
    first_name: 'Ada',
    last_name: 'Byron',
    address_line1: '1 Main St',
    address_line2: null,
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
    country: 'US',
    phone_number: '5125550100',
  },
  metadata: null,
  po_number: null,
  handling_days_max: null,
  is_gift: false,
  gift_message: null,
  retailer_credentials_id: null,
  retailer_credentials_uuid: null,
  job_result: {
    success: true,
    error: null,
    error_type: null,
    error_details: null,
    price_components: null,
    estimated_delivery: null,
    merchant_order_ids: ['111-2222222-3333333'],
  },
  merchant_order_ids: ['111-2222222-3333333'],
  tracking_numbers: [],
  created_by: null,
  user_id: id(1),
  returns: [summary('in_progress')],
  connect: null,
  payment: null,
  customer_notifications: null,
  fulfillment: null,
  created_at: time,
  updated_at: time,
  ...more,
});

/** A store written by an earlier version: an order with a return under review, and an order yet to be placed. */
function olderStore(file: string): void {
  const Database = loadSqlite();
  const database = new Database(file);
  for (const sql of migrations.slice(0, before)) database.exec(sql);
  database.exec(`PRAGMA user_version = ${before}`);
  const run = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).run(...values);
  run('INSERT INTO users (id, created_at, order_count) VALUES (?, ?, 2)', id(1), now);
  run(
    `INSERT INTO api_keys (hash, user_id, id, minted_from, created_at, used_at) VALUES (?, ?, ?, '::1', ?, ?)`,
    createHash('sha256').update(key).digest('hex'),
    id(1),
    id(9),
    now,
    now,
  );
  run('INSERT INTO wallets VALUES (?, ?, 100000, 0, ?, ?)', id(1), id(8), now, now);
  const insertOrder = (record: { id: string; status: string }, plan: unknown[], due: number | null) => {
    const text = JSON.stringify(record);
    run(
      `INSERT INTO orders (id, user_id, idempotency_key, created_at, status, recipient, reserved, fee, wallet_paid, record,
         listed, body, plan, next_due) VALUES (?, ?, ?, ?, ?, 'ada byron', 0, 0, 0, ?, ?, ?, ?, ?)`,
      record.id,
      id(1),
      record.id,
      now,
      record.status,
      text,
      text,
      JSON.stringify({ products: [], shipping_address: {}, max_price: 5000 }),
      JSON.stringify(plan),
      due,
    );
  };
  insertOrder(orderOf({}), [], null);
  const pending = orderOf({
    id: id(3),
    status: 'in_progress',
    job_result: null,
    merchant_order_ids: [],
    returns: [],
    metadata: { team: 'office' },
  });
  const placed = {
    at: now + 1000,
    kind: 'placed',
    items: [],
    concessions: [],
    job_result: orderOf({}).job_result,
  };
  insertOrder(pending, [placed], now + 1000);
  const requested = {
    ...summary('in_progress'),
    order_id: id(2),
    notes: null,
    resolution_notes: null,
    items: [],
    label_urls: [],
    merchant_return_id: null,
  };
  const plan = [
    { at: now - 1, status: 'in_progress' },
    { at: now + 1000, status: 'completed', resolution_notes: 'x' },
  ];
  run(
    `INSERT INTO returns (id, user_id, order_seq, order_id, status, record, plan, next_due, created_at)
     VALUES (?, ?, 1, ?, 'in_progress', ?, ?, ?, ?)`,
    id(4),
    id(1),
    id(2),
    JSON.stringify(requested),
    JSON.stringify(plan),
    now - 1,
    now,
  );
  run(
    `INSERT INTO deliveries (id, user_id, order_id, event, url, body, created_at) VALUES ('d1', ?, ?, 'status_updated', 'http://127.0.0.1/', '{}', ?)`,
    id(1),
    id(2),
    now,
  );
  database.close();
}

test('records of an earlier version are read in the shapes of today, and live on', async () => {
  const file = join(folder.path, 'sandbox.db');
  olderStore(file);
  const clock = { now };
  const bugs: unknown[] = [];
  const { handle, close, service } = await openSandbox({
    file,
    baseUrl: 'http://127.0.0.1:1',
    now: () => clock.now,
    report: (error) => bugs.push(error),
  });
  const get = async (target: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await handle({
      method: 'GET',
      target,
      headers,
      body: new Uint8Array(),
      remoteAddress: '::1',
    });
    expect(response.status, String(response.body)).toBe(200);
    return JSON.parse(String(response.body));
  };
  const list = await get('/orders');
  expect(checkShape('OrderListResponse', list, 'response').issues).toBeUndefined();
  const { number } = service.store.get('SELECT number FROM users') ?? {};
  const [, first] = list.orders.toSorted((one: { id: string }, other: { id: string }) =>
    one.id < other.id ? 1 : -1,
  );
  expect(first).toMatchObject({
    user_id: number,
    metadata: {},
    job_result: { merchant_order_ids: [{ merchant_order_id: '111-2222222-3333333' }] },
    returns: [{ status: 'open' }],
  });
  expect((await get(`/orders/${id(2)}`)).fulfillment).toMatchObject({ gift: null, concessions: [] });
  expect((await get(`/returns/${id(4)}`)).status).toBe('open');
  clock.now += 2000;
  expect((await get(`/returns/${id(4)}`)).status).toBe('approved');
  expect(await get(`/orders/${id(3)}`)).toMatchObject({
    status: 'order_placed',
    metadata: { team: 'office' },
    merchant_order_ids: ['111-2222222-3333333'],
  });
  expect(service.store.get('SELECT event_id FROM deliveries')).toMatchObject({ event_id: 'd1' });
  await close();
  expect(bugs).toEqual([]);
});

test('a field that orders have come to have since is null in those of an earlier version', async () => {
  const file = join(folder.path, 'sandbox.db');
  olderStore(file);
  const older = new (loadSqlite())(file);
  older.exec(`UPDATE orders SET record = json_remove(record, '$.handling_days_max', '$.is_gift'),
    listed = json_remove(listed, '$.handling_days_max', '$.is_gift')`);
  older.close();
  const { close, service } = await openSandbox({
    file,
    baseUrl: 'http://127.0.0.1:1',
    now: () => now,
    report: () => {},
  });
  for (const { record, listed } of service.store.all('SELECT record, listed FROM orders')) {
    for (const text of [record, listed]) {
      expect(checkShape('OrderResponse', JSON.parse(String(text)), 'response').issues).toBeUndefined();
    }
  }
  await close();
});

test('what an earlier version gave up for good is due again, and what has ended stays so', () => {
  const database = new (loadSqlite())(':memory:');
  const resuming = migrations.findLastIndex((sql) => sql.includes('next_due'));
  for (const sql of migrations.slice(0, resuming)) database.exec(sql);
  const insert = database.prepare(
    `INSERT INTO orders (id, user_id, idempotency_key, created_at, status, recipient, reserved, fee, wallet_paid, record, listed,
       body, plan, next_due) VALUES (?, 'u', ?, 0, 'pending', '', 0, 0, 0, '{}', '{}', '{}', ?, NULL)`,
  );
  database.exec("INSERT INTO users (id, created_at) VALUES ('u', 0)");
  insert.run('frozen', 'frozen', '[{"at":7,"kind":"started"}]');
  insert.run('ended', 'ended', '[]');
  database.exec(migrations[resuming] ?? '');
  expect(database.prepare('SELECT id, next_due FROM orders ORDER BY seq').all()).toMatchObject([
    { id: 'frozen', next_due: 7 },
    { id: 'ended', next_due: null },
  ]);
  database.close();
});
