import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import type { Finished } from '../../support/run.ts';
import { cutOff, errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';

const hour = 3_600_000;

interface Subject {
  readonly path: string;
  readonly body?: unknown;
  /** Ids of the service's objects of this kind. */
  readonly made: () => Promise<readonly string[]>;
}

const row = (shop: Shopping) => ({
  product_url: shop.service.product('test-success'),
  max_price: 5000,
  name: 'A B',
  address_line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postal_code: '78701',
  phone_number: '+15125550100',
});

const idsAt = async (shop: Shopping, path: string, list: string): Promise<string[]> =>
  (await shop.service.send('GET', path)).body[list].map(({ id }: { id: string }) => id);

/** Requests `errand api` can send, each of which must create only one object. */
const subjects = {
  'order.create': async (shop) => ({ path: '/orders', made: () => idsAt(shop, '/orders', 'orders') }),
  'agent.order.create': async (shop) => ({
    path: '/agent/orders',
    made: async () => {
      const records = JSON.parse((await shop.run('order', 'journal', 'list', '--all', '-o', 'json')).stdout);
      return records.flatMap(({ order_id: id }: { order_id: string | null }) => id ?? []);
    },
  }),
  'bulk.create': async (shop) => ({
    path: '/orders/bulk',
    body: { filename: 'mine.csv', rows: [row(shop), row(shop)] },
    made: () => idsAt(shop, '/orders/bulk', 'batches'),
  }),
  'return.create': async (shop) => {
    const { id } = (await shop.service.order('test-success')).body;
    shop.service.pass(hour);
    const [item] = (await shop.service.send('GET', `/orders/${id}`)).body.items;
    return {
      path: '/returns',
      body: { order_id: id, reason: 'damaged', items: [{ order_item_id: item.id, quantity: 1 }] },
      made: () => idsAt(shop, '/returns', 'return_requests'),
    };
  },
  'legacy.retry': async (shop) => {
    const { id } = (await shop.service.order('test-out-of-stock')).body;
    shop.service.pass(hour);
    const made = async () => (await idsAt(shop, '/orders', 'orders')).filter((other) => other !== id);
    return { path: `/v1/orders/${id}/retry`, made };
  },
} satisfies Readonly<Record<string, (shop: Shopping) => Promise<Subject>>>;
type Name = keyof typeof subjects;

/** The field of a refused repeat that holds the existing object's id. */
const idNames: Readonly<Record<Name, string>> = {
  'order.create': 'order_id',
  'agent.order.create': 'order_id',
  'bulk.create': 'batch_id',
  'return.create': 'return_request_id',
  'legacy.retry': 'order_id',
};
const names = Object.keys(subjects) as Name[];

interface Sending {
  readonly shop: Shopping;
  readonly subject: Subject;
  send(...more: readonly string[]): Promise<Finished>;
}

async function sending(name: Name, ...faults: readonly string[]): Promise<Sending> {
  const shop = await shopping(...faults);
  const subject: Subject = await subjects[name](shop);
  if (subject.body !== undefined)
    writeFileSync(join(shop.workspace.folder, 'body.json'), JSON.stringify(subject.body));
  const file = subject.body === undefined ? 'order.json' : 'body.json';
  const input = name === 'legacy.retry' ? [] : ['--input', file];
  const send = (...more: readonly string[]) =>
    shop.run('api', 'POST', subject.path, ...input, '--retries', '0', ...more);
  return { shop, subject, send };
}

test('the table marks every operation that makes something with money', () => {
  const all: [string, Operation][] = Object.entries(operations);
  const making = all.filter(
    ([, { movesMoney, response }]) =>
      movesMoney && response.type === 'json' && Object.values(response.essential ?? {}).includes('newId'),
  );
  expect(making.map(([name]) => name).toSorted()).toEqual(names.toSorted());
  expect(all.filter(([, { once }]) => once).map(([name]) => name)).toEqual(making.map(([name]) => name));
});

describe.each(names)('errand api for %s', (name) => {
  test('the same again is refused, and names what exists; --new makes another', async () => {
    const { subject, send } = await sending(name);
    const first = await send('-o', 'json');
    expect(first.code, first.stderr).toBe(0);
    const [id] = await subject.made();
    expect(first.stdout).toContain(id);
    const again = await send('-o', 'json');
    expect([again.code, again.stdout], again.stderr).toEqual([5, '']);
    const error = errorOf(again);
    expect(error).toMatchObject({
      category: 'conflict',
      outcome: 'applied',
      details: { [idNames[name]]: id },
    });
    const lines = error.next.map(({ command }: { command: string }) => command);
    expect(lines.some((line: string) => line.includes('--idempotency-key'))).toBe(false);
    expect(lines.some((line: string) => line.startsWith('errand api') && line.endsWith(' --new'))).toBe(true);
    expect(await subject.made()).toEqual([id]);
    // The service itself refuses a second return of the same items and a second retry of the same order.
    const isOnceAtService = name === 'return.create' || name === 'legacy.retry';
    expect((await send('--new')).code).toBe(0);
    expect(await subject.made()).toHaveLength(isOnceAtService ? 1 : 2);
  });

  test('a journal that cannot be written stops it before it is sent', async () => {
    const { shop, subject, send } = await sending(name);
    writeFileSync(join(shop.workspace.folder, 'not-a-folder'), '');
    const state = shop.workspace.environment.ERRAND_STATE_DIR ?? '';
    shop.workspace.environment.ERRAND_STATE_DIR = join(shop.workspace.folder, 'not-a-folder');
    const refused = await send('-o', 'json');
    expect([refused.code, errorOf(refused).outcome]).toEqual([1, 'unknown']);
    shop.workspace.environment.ERRAND_STATE_DIR = state;
    expect(await subject.made()).toEqual([]);
  });

  test('--dry-run sends nothing and journals nothing', async () => {
    const { shop, subject, send } = await sending(name);
    const { code, stdout } = await send('--dry-run', '-o', 'json');
    expect([code, JSON.parse(stdout).method]).toEqual([0, 'POST']);
    expect(await subject.made()).toEqual([]);
    expect((await shop.run('order', 'journal', 'list', '--all', '-o', 'id')).stdout).toBe('');
  });
});

describe('what is in doubt is settled by the same request', () => {
  test.each(['order.create', 'agent.order.create'] as const)('%s', async (name) => {
    const { shop, subject, send } = await sending(name);
    lose(shop, ...(name === 'order.create' ? [] : ['none' as const]), 'reset-after');
    expect((await send()).code).toBe(10);
    const again = await send('-o', 'id');
    expect(again.code, again.stderr).toBe(0);
    expect(await subject.made()).toEqual([again.stdout.trim()]);
  });

  test('bulk.create', async () => {
    const { shop, subject, send } = await sending('bulk.create');
    expect((await cutOff(shop, () => send())).code).toBe(10);
    const again = await send('-o', 'id');
    expect(again.code, again.stderr).toBe(0);
    expect(await subject.made()).toEqual([again.stdout.trim()]);
    shop.service.pass(hour);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('return.create', async () => {
    const { shop, subject, send } = await sending('return.create', 'reset-after@POST /returns');
    const first = await send();
    expect(first.code, first.stderr).toBe(10);
    const again = await send('-o', 'id');
    expect(again.code, again.stderr).toBe(0);
    expect(await subject.made()).toEqual([again.stdout.trim()]);
    expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
  });

  test('legacy.retry has no key: it is never sent again, and its outcome is unknown', async () => {
    const { subject, send } = await sending('legacy.retry', 'reset-after@POST /v1/orders/*');
    for (const _ of [1, 2]) {
      const lost = await send('-o', 'json');
      expect(lost.code).toBe(10);
      expect(errorOf(lost)).toMatchObject({ outcome: 'unknown', retryable: false });
    }
    expect(await subject.made()).toHaveLength(1);
  });
});

describe('by hand and by its own command are one intent', () => {
  test('an order, and an order by hand', async () => {
    const { shop, send } = await sending('order.create');
    expect((await shop.order()).code).toBe(0);
    expect((await send()).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('rows of a file, and the same rows by hand', async () => {
    const { shop, subject, send } = await sending('bulk.create');
    const cells = Object.values(row(shop));
    const csv = [Object.keys(row(shop)), cells, cells].map((line) => `${line.join(',')}\n`).join('');
    writeFileSync(join(shop.workspace.folder, 'rows.csv'), csv.replace('max_price', 'max_price_cents'));
    expect((await send()).code).toBe(0);
    const uploaded = await shop.run('bulk', 'upload', 'rows.csv', '--yes');
    expect(uploaded.code, uploaded.stderr).toBe(0);
    shop.service.pass(hour);
    expect(await shop.orders()).toHaveLength(2);
    expect((await subject.made()).length).toBeGreaterThan(0);
  });

  test('rows with keys of their own are the same batch again, without an error', async () => {
    const { shop, subject, send } = await sending('bulk.create');
    const rows = [{ ...row(shop), idempotency_key: 'row-1' }];
    writeFileSync(join(shop.workspace.folder, 'body.json'), JSON.stringify({ rows }));
    const first = await send('-o', 'id');
    const again = await send('-o', 'id');
    expect([again.code, again.stdout]).toEqual([0, first.stdout]);
    expect(again.stderr).toContain('this batch existed already');
    expect(await subject.made()).toHaveLength(1);
  });
});

describe('what is refused by hand', () => {
  test.each([
    ['POST /orders/bulk', ['-F', 'rows[]='], /rows\.0/],
    ['POST /returns', ['-f', 'reason=none'], /order_id: .*; items: .*; reason: /],
    ['POST /agent/orders', ['-f', 'po_number=7'], /products: /],
    ['POST /v1/orders/x/retry', ['-f', 'a=b'], /takes no body/],
    ['POST /v1/orders/x/retry', [], /request_id: /],
    ['POST /returns', ['-i'], /-i does not apply to POST \/returns/],
    ['POST /agent/orders?method=sandbox', [], /a query does not apply to POST \/agent\/orders:/],
    ['POST /orders', ['--input', 'order.json', '-f', 'a=b'], /a field beside --input does not apply/],
    ['POST /users', ['-f', 'a=b', '--new'], /--new applies to/],
  ])('%s %j', async (request, more, message) => {
    const shop = await shopping();
    const refused = await shop.run('api', ...request.split(' '), ...more);
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toMatch(message);
    expect(await shop.orders()).toEqual([]);
  });
});
