import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Agent } from '../../integrations/mcp/agent.ts';
import { type Gateway, through } from '../../support/gateway.ts';
import { address, orderBody } from '../../support/order-body.ts';
import { errorOf, type Shopping, shopping } from '../../support/shopping.ts';

const alreadyExists = (identifier: string) => ({
  status: 409,
  body: {
    code: 'already_exists',
    message: 'An order with this idempotency_key exists already.',
    details: { resource: 'order', identifier },
  },
});

/** Answers every order with `already_exists` naming this id. */
const naming = (id: string): NonNullable<Gateway['inPlace']> => {
  return (method, path) => (method === 'POST' && path.startsWith('/orders') ? alreadyExists(id) : undefined);
};

const records = async (shop: Shopping) =>
  JSON.parse((await shop.run('order', 'journal', 'list', '--all', '-o', 'json')).stdout);

describe('`already_exists` that names another order', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['another product', 'test-slow', {}],
    ['another quantity', 'test-success', { products: 2 }],
    ['another person', 'test-success', { shipping_address: { ...address, first_name: 'Eve' } }],
    ['another house', 'test-success', { shipping_address: { ...address, address_line1: '9 Side Road' } }],
    ['another ceiling', 'test-success', { max_price: 9000 }],
    ['another city', 'test-success', { shipping_address: { ...address, city: 'Dallas' } }],
    ['another state', 'test-success', { shipping_address: { ...address, state: 'CA' } }],
    ['another phone', 'test-success', { shipping_address: { ...address, phone_number: '5125559999' } }],
    ['another flat', 'test-success', { shipping_address: { ...address, address_line2: 'Apt 9' } }],
    ['initials', 'test-success', { shipping_address: { ...address, address_line1: '1 M S' } }],
    ['a gift', 'test-success', { is_gift: true }],
  ])('is in doubt, and nothing is adopted: %s', async (_, slug, { products, ...more }) => {
    const shop = await shopping();
    const url = shop.service.product(slug);
    const lines = products === undefined ? {} : { products: [{ url, quantity: products }] };
    const { body: other } = await shop.service.order(slug, { ...more, ...lines });
    const gateway = await through(shop);
    gateway.inPlace = naming(other.id);
    const lied = await shop.order('-o', 'json');
    expect(lied.code, lied.stdout + lied.stderr).toBe(10);
    expect(lied.stdout).toBe('');
    const error = errorOf(lied);
    expect(error).toMatchObject({ category: 'in_doubt', code: 'already_exists', outcome: 'unknown' });
    expect(error.message).toContain(`names another one, ${other.id}`);
    expect(error.details.differences.length).toBeGreaterThan(0);
    expect(error.next.map(({ command }: { command: string }) => command)).toEqual([
      'errand order list',
      `errand order journal forget ${error.idempotency_key}`,
    ]);
    expect(await records(shop)).toMatchObject([{ state: 'intended', order_id: null }]);
    // The service responds correctly again: the same command places the order, once.
    delete gateway.inPlace;
    const again = await shop.order('-o', 'id');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout.trim()).not.toBe(other.id);
    expect(await shop.orders()).toHaveLength(2);
  });

  test.each<[string, Record<string, unknown>]>([
    ['a variant', { line: { variant: [{ label: 'Size', value: 'XL' }] } }],
    ['a condition', { line: { condition_in: ['New'] } }],
    ['a condition to leave out', { line: { condition_not_in: ['Refurbished'] } }],
    ['a flat', { shipping_address: { ...address, address_line2: 'Flat 3, c/o Bob' } }],
    ['an account', { retailer_credentials_id: 'zz_acct_1' }],
    ['a gift', { is_gift: true }],
  ])('is in doubt where the other one lacks %s', async (_, { line, ...more }) => {
    const shop = await shopping();
    const url = shop.service.product('test-success');
    const { body: other } = await shop.service.order('test-success');
    const gateway = await through(shop);
    gateway.inPlace = naming(other.id);
    const requested = { ...orderBody(url), products: [{ url, ...Object(line) }], ...more };
    writeFileSync(join(shop.workspace.folder, 'order.json'), JSON.stringify(requested));
    for (const isLeftOut of [false, true]) {
      gateway.alter = (path, order) =>
        isLeftOut && path.startsWith('/orders/')
          ? JSON.parse(JSON.stringify(order, (__, value) => value ?? undefined))
          : order;
      const lied = await shop.order('-o', 'json');
      expect([lied.code, lied.stdout], lied.stderr).toEqual([10, '']);
      expect(errorOf(lied).message).toContain(`names another one, ${other.id}`);
    }
    expect(await records(shop)).toMatchObject([{ state: 'intended', order_id: null }]);
  });

  test('is in doubt where that is the order of another key of ours, with the same content', async () => {
    const shop = await shopping();
    const gateway = await through(shop);
    const first = (await shop.order('-o', 'id')).stdout.trim();
    gateway.inPlace = naming(first);
    for (const more of [['--new'], ['--idempotency-key', 'monday']]) {
      const lied = await shop.order(...more, '-o', 'json');
      expect(lied.code, lied.stdout + lied.stderr).toBe(10);
      const [{ key }] = (await records(shop)).filter(
        ({ order_id: id }: { order_id: string }) => id === first,
      );
      expect(errorOf(lied).message).toContain(`names another one, ${first}: the order of ${key}`);
    }
    expect((await records(shop)).map(({ state }: { state: string }) => state).toSorted()).toEqual([
      'intended',
      'intended',
      'reported',
    ]);
  });

  test('is in doubt where that is the order of another key, made under another spelling of the base URL', async () => {
    const shop = await shopping();
    const gateway = await through(shop);
    const first = (await shop.order('-o', 'id')).stdout.trim();
    gateway.inPlace = naming(first);
    const { ERRAND_BASE_URL: url = '' } = shop.workspace.environment;
    shop.workspace.environment.ERRAND_BASE_URL = url.replace('127.0.0.1', 'localhost');
    expect(shop.workspace.environment.ERRAND_BASE_URL).not.toBe(url);
    const lied = await shop.order('-o', 'json');
    expect([lied.code, lied.stdout], lied.stderr).toEqual([10, '']);
    expect(errorOf(lied).message).toContain(`names another one, ${first}: the order of `);
  });

  test('is in doubt where the order cannot be read', async () => {
    const shop = await shopping();
    const gateway = await through(shop);
    gateway.inPlace = naming('00000000-0000-4000-8000-000000000001');
    const lied = await shop.order('-o', 'json');
    expect([lied.code, lied.stdout], lied.stderr).toEqual([10, '']);
    expect(await records(shop)).toMatchObject([{ state: 'intended', order_id: null }]);
  });

  test('is the order that was sent where the service only spells it its own way', async () => {
    const shop = await shopping();
    const { body: spelt } = await shop.service.order('test-success', {
      shipping_address: {
        ...address,
        first_name: 'ADA',
        address_line1: '1 MAIN STREET',
        postal_code: '78701-1234',
        phone_number: '+15125550100',
        state: 'Texas',
      },
      metadata: { by: 'service' },
    });
    const gateway = await through(shop);
    gateway.inPlace = naming(spelt.id);
    const adopted = await shop.order('-o', 'id');
    expect([adopted.code, adopted.stdout], adopted.stderr).toEqual([0, `${spelt.id}\n`]);
    expect(adopted.stderr).toContain('the service has written the order');
    expect(await records(shop)).toMatchObject([{ state: 'reported', order_id: spelt.id }]);
  });

  test('is in doubt for an order that is paid by challenge', async () => {
    const shop = await shopping();
    const { body: other } = await shop.service.order('test-slow');
    const gateway = await through(shop);
    let posts = 0;
    gateway.inPlace = (method, path) => {
      if (method !== 'POST' || !path.startsWith('/agent/orders')) return undefined;
      posts += 1;
      return posts === 1 ? undefined : alreadyExists(other.id);
    };
    const lied = await shop.run(
      ...['agent', 'order', 'create', '--file', 'order.json', '--retries', '0', '-o', 'json'],
    );
    expect([lied.code, lied.stdout], lied.stderr).toEqual([10, '']);
    expect(errorOf(lied).message).toContain(`names another one, ${other.id}`);
    expect(await records(shop)).toMatchObject([{ state: 'intended', order_id: null }]);
  });
});

test('an agent is told that the order of its quote is in doubt, and is given no other one', async () => {
  const shop = await shopping();
  const { body: other } = await shop.service.order('test-slow');
  const gateway = await through(shop);
  const agent = await Agent.start(shop.workspace);
  const { quote } = await agent.get('order_quote', {
    products: [{ url: shop.service.product('test-success') }],
    ...{ shipping_address: address, max_price: 5000 },
  });
  gateway.inPlace = naming(other.id);
  const refused = await agent.refused('order_place', { quote });
  expect(refused).toMatchObject({ category: 'in_doubt', outcome: 'unknown' });
  delete gateway.inPlace;
  const { order } = await agent.get('order_place', { quote });
  expect(order.id).not.toBe(other.id);
  expect(await shop.orders()).toHaveLength(2);
});

describe('an order that the journal knows', () => {
  test.each([
    ['by its key', ['--idempotency-key', 'monday']],
    ['by the record of an interrupted command', []],
  ])('is in doubt where the service describes another one under its id: %s', async (_, more) => {
    const shop = await shopping();
    const gateway = await through(shop);
    gateway.alter = (path, order) =>
      path.startsWith('/orders/')
        ? { ...order, items: [{ ...Object(order.items)[0], url: shop.service.product('test-slow') }] }
        : order;
    expect((await shop.order(...more)).code).toBe(0);
    const [{ key, order_id: id }] = await records(shop);
    const again =
      more.length > 0
        ? await shop.order(...more, '-o', 'json')
        : await shop.run('order', 'journal', 'resume', key, '-o', 'json');
    expect(again.code, again.stdout + again.stderr).toBe(10);
    expect(again.stdout.includes(id)).toBe(false);
    expect(errorOf(again).message).toContain(
      `the journal has the order ${id} for ${key}, and the service describes another one: products.0.url`,
    );
    expect(await shop.orders()).toHaveLength(1);
  });
});

test('a batch of the same name that has other rows is not taken for one that is in doubt', async () => {
  const shop = await shopping();
  const gateway = await through(shop);
  const { products: _, ...one } = orderBody('');
  const rows = [1, 2].map(() => ({
    product_url: shop.service.product('test-success'),
    max_price: one.max_price,
    ...{ name: 'A B', address_line1: '1 Main St', city: 'Austin', state: 'TX' },
    ...{ postal_code: '78701', phone_number: '+15125550100' },
  }));
  writeFileSync(join(shop.workspace.folder, 'body.json'), JSON.stringify({ filename: 'mine.csv', rows }));
  const send = () =>
    shop.run('api', 'POST', '/orders/bulk', '--input', 'body.json', '--retries', '0', '-o', 'json');
  let label = '';
  gateway.inPlace = (method, path) => {
    if (!path.startsWith('/orders/bulk')) return undefined;
    if (method === 'POST') return { status: 502, body: {} };
    const batch = { id: '00000000-0000-4000-8000-000000000002', filename: label, row_count: 7 };
    return {
      status: 200,
      body: { batches: [{ ...batch, status: 'pending', created_at: new Date().toISOString() }], total: 1 },
    };
  };
  expect((await send()).code).toBe(10);
  const [{ key }] = await records(shop);
  label = `mine.csv [${key.slice(0, 8)}]`;
  const again = await send();
  expect([again.code, again.stdout], again.stderr).toEqual([10, '']);
  expect(errorOf(again).message).toContain('another batch');
  expect(await records(shop)).toMatchObject([{ state: 'intended', order_id: null }]);
});
