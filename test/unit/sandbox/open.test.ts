import { expect, test } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open.ts';
import type { SandboxResponse } from '../../../src/sandbox/server/wire.ts';
import { address } from '../../support/order-body.ts';

/** A sandbox whose clock is set by the test. */
async function place() {
  const clock = { now: Date.parse('2026-03-01T12:00:00Z') };
  const bugs: unknown[] = [];
  const opened = await openSandbox({
    file: ':memory:',
    baseUrl: 'http://127.0.0.1:4848',
    now: () => clock.now,
    report: (bug) => bugs.push(bug),
  });
  let key = '';
  const send = (method: string, target: string, body?: unknown): Promise<SandboxResponse> =>
    opened.handle({
      method,
      target,
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
    });
  key = JSON.parse(String((await send('POST', '/sandbox/keys')).body)).api_key;
  return { clock, bugs, send, opened };
}

test('a sandbox that is closed first responds to its requests', async () => {
  const { clock, bugs, send, opened } = await place();
  const { first_name, last_name, country, ...where } = address;
  const row = { ...where, name: `${first_name} ${last_name}`, url: 'https://a.example/1', max_price: '100' };
  expect((await send('POST', '/orders/bulk', { rows: Array(100).fill(row) })).status).toBe(201);
  clock.now += 60_000;
  // Requests in flight while rows are being placed; their callers may be gone.
  const underWay = [send('GET', '/wallet/me'), send('GET', '/orders')];
  await opened.close();
  for (const { status } of await Promise.all(underWay)) expect(status).toBe(200);
  expect(bugs).toEqual([]);
});

test('ten sandboxes side by side in one process share nothing', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, place));
  const created = await Promise.all(
    all.map(({ send }, index) =>
      send('POST', '/orders', {
        products: [{ url: 'http://127.0.0.1:4848/shop/test-success' }],
        shipping_address: address,
        max_price: 5000 + index,
      }),
    ),
  );
  for (const [index, { send, clock, bugs, opened }] of all.entries()) {
    clock.now += index * 60_000;
    const { body, headers } = await send('GET', '/orders');
    const { orders, total } = JSON.parse(String(body));
    expect(total).toBe(1);
    expect(orders[0]).toMatchObject({
      id: JSON.parse(String(created[index]?.body)).id,
      max_price: 5000 + index,
      status: index === 0 ? 'pending' : 'order_placed',
    });
    expect(headers.date).toBe(new Date(clock.now).toUTCString());
    expect(bugs).toEqual([]);
    await opened.close();
  }
});
