import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand, shell } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const now = '2026-11-02T09:00:00.000Z';
const key = 'sbx_test_spelledInTheScenario';
const order = { ...orderBody('{shop_url}/test-success'), max_price: 2500 };

const scenario = {
  version: 1,
  seed: 7,
  clock: { now, frozen: true, speed: 2 },
  faults: ['503:50%@GET /usage'],
  keys: [
    { name: 'buyer', key, email: 'ada@example.com', funded: [{ at: '-3d', amount: 90_000 }] },
    { name: 'other', balance: 0, claimed: { by: 'eve@example.com', at: '-1d' } },
  ],
  listings: [
    {
      retailer: 'harborgoods',
      title: 'Blue \u001b[31mKettle\u202e "x"',
      price: 3900,
      price_at_checkout: 4100,
    },
  ],
  accounts: [
    { email: 'ada@example.com', retailer: 'membersbarn', password: 'hunter2-secret', created: '-2d' },
  ],
  orders: [
    { name: 'first', order, state: 'delivered', created: '-2d' },
    { order, state: 'in_transit', created: '-1d' },
    { order, state: 'undeliverable' },
    { order, state: 'cancelled' },
    { order, state: 'order_failed', error_type: 'account_locked' },
    { order, state: 'pending' },
    { order, state: 'pending', created: '-20d' },
    {
      order: { ...order, products: [{ url: 'https://elsewhere.example/a', quantity: 3 }] },
      state: 'order_placed',
    },
  ],
  returns: [{ order: 'first', reason: 'damaged', state: 'approved', created: '-5s' }],
};

/** A fixed sequence of client requests. */
async function use(url: string, email = 'b@example.com'): Promise<void> {
  const call = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ id: string; short_id: string }> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body).replaceAll('{shop_url}', `${url}/shop`) }),
    });
    expect(response.status, `${method} ${path}`).toBeLessThan(300);
    return response.status === 204 ? { id: '', short_id: '' } : ((await response.json()) as never);
  };
  const move = (ms: number): Promise<unknown> => call('POST', '/sandbox/control/advance', { ms });
  const first = await call('POST', '/orders', order);
  await call('POST', `/orders/${(await call('POST', '/orders', order)).id}/cancel`);
  await move(1_500);
  const account = await call('POST', '/managed-accounts', { email, password: 'p' });
  await call('POST', '/orders', { ...order, retailer_credentials_id: account.short_id });
  await call('POST', '/users', { webhook_url: 'http://me:hunter2@127.0.0.1:9/hook?token=hunter2' });
  const webhooks = { status_updated: ['http://127.0.0.1:9/own?token=hunter2'] };
  await call('POST', '/orders', { ...order, metadata: { large: 1e21, small: -2.5e-8 } });
  await call('POST', '/orders', { ...order, webhooks, products: [{ url: '{shop_url}/test-undeliverable' }] });
  await call('POST', '/sandbox/trigger', { event: 'delivered', id: first.id });
  const items = ((await call('GET', `/orders/${first.id}`)) as never as { items: { id: string }[] }).items;
  const body = {
    order_id: first.id,
    items: [{ order_item_id: items[0]?.id, quantity: 1 }],
    reason: 'defective',
  };
  await call('POST', '/sandbox/trigger', {
    event: 'return-denied',
    id: (await call('POST', '/returns', body)).id,
  });
  await call('POST', '/orders/bulk', {
    rows: [
      {
        product_url: '{shop_url}/test-success',
        max_price: 2500,
        name: 'A B',
        address1: '1 Main St',
        city: 'Austin',
        state: 'TX',
        zip: '78701',
        phone: '5125550100',
      },
    ],
  });
  await move(2_000);
}

const exported = async (url: string, ...flags: readonly string[]): Promise<string> => {
  const { stdout, code, stderr } = await errand(workspace, [
    'sandbox',
    'export',
    '--base-url',
    url,
    ...flags,
  ]);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^(?:left out: 1 batch; its orders are there\n)?$/),
  ]);
  return stdout;
};

test('the same scenario and the same requests give the same bytes on two runs, and what is exported comes to itself again', async () => {
  const file = join(workspace.folder, 'shop.yaml');
  writeFileSync(file, JSON.stringify(scenario));
  const runs: string[] = [];
  for (const _ of [1, 2]) {
    const { url } = await serveAt(workspace, '--scenario', file);
    await use(url);
    runs.push(await exported(url));
  }
  const [text = ''] = runs;
  expect(runs[1]).toBe(text);
  for (const told of [key, 'hunter2', '/shop/']) expect(text).not.toContain(told);
  expect(text).not.toMatch(/[\u001b\u202e]/);
  writeFileSync(join(workspace.folder, 'again.yaml'), text);
  const again = await serveAt(workspace, '--scenario', 'again.yaml');
  expect(await exported(again.url)).toBe(text);
  const json = JSON.parse(await exported(again.url, '-o', 'json'));
  expect(json.orders).toHaveLength(scenario.orders.length + 6);
  expect(json).toMatchObject({ seed: 7, clock: { frozen: true, speed: 2 }, faults: scenario.faults });
});

test('the records of a sandbox that was exported are those of the one that begins with it', async () => {
  writeFileSync(join(workspace.folder, 'shop.yaml'), JSON.stringify(scenario));
  const one = await serveAt(workspace, '--scenario', 'shop.yaml');
  await use(one.url);
  const text = (await exported(one.url)).replace('name: buyer\n', `name: buyer\n    key: ${key}\n`);
  writeFileSync(join(workspace.folder, 'again.yaml'), text);
  const other = await serveAt(workspace, '--scenario', 'again.yaml');
  const read = async (url: string, path: string): Promise<string> =>
    (await (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).text())
      .replaceAll(url, 'URL')
      .replaceAll(/signature=\w+/g, 'signature');
  for (const path of ['/orders?include=tracking_events', '/returns', '/managed-accounts', '/wallet/me'])
    expect(await read(other.url, path), path).toBe(await read(one.url, path));
  await use(one.url, 'c@example.com');
  await use(other.url, 'c@example.com');
  expect(await read(other.url, '/orders')).toBe(await read(one.url, '/orders'));
});

describe('the embedded sandbox', () => {
  test('is exported with its own seed, and its orders come again', async () => {
    await shell(workspace, 'errand config set sandbox-speed 50; errand quickstart');
    const { stdout, code } = await errand(workspace, ['sandbox', 'export']);
    expect(code).toBe(0);
    writeFileSync(
      join(workspace.folder, 'now.yaml'),
      `${stdout.replace('clock:\n', 'clock:\n  frozen: true\n')}`,
    );
    const { url } = await serveAt(workspace, '--scenario', 'now.yaml');
    const again = await exported(url);
    expect(again.replace('  frozen: true\n', '')).toBe(stdout);
    expect(again).toContain('state: delivered');
  });

  test('that nobody has used has nothing to export, and an address that is no sandbox is refused', async () => {
    const { code, stdout, stderr } = await errand(workspace, ['sandbox', 'export']);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('there is no sandbox yet');
    const other = await errand(workspace, ['sandbox', 'export', '--base-url', 'https://api.example']);
    expect([other.code, other.stdout]).toEqual([2, '']);
    expect(readdirSync(workspace.folder)).not.toContain('.state');
  });
});
