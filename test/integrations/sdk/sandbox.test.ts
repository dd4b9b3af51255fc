import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../src/integrations/sdk/sandbox.ts';
import type { Sandbox, SandboxOptions } from '../../../src/integrations/sdk/sandbox-types.ts';

const noon = new Date('2026-03-01T12:00:00Z');

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ port: false, clock: noon, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

const headersOf = ({ apiKey }: Sandbox) => ({
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
});

interface Order {
  readonly id: string;
  readonly status: string;
  readonly tracking_numbers?: readonly { readonly status: string }[];
}

async function place(sandbox: Sandbox, more: object = {}): Promise<Order> {
  const body = JSON.stringify({ ...sandbox.exampleOrder, ...more });
  const response = await sandbox.fetch('/orders', { method: 'POST', headers: headersOf(sandbox), body });
  expect(response.status).toBe(201);
  return JSON.parse(await response.text());
}

async function get(sandbox: Sandbox, path: string): Promise<Order & { readonly orders: readonly Order[] }> {
  return JSON.parse(await (await sandbox.fetch(path, { headers: headersOf(sandbox) })).text());
}

/** A webhook receiver; the test decides how it responds. */
async function receiver(respond: (event: string, order: Order) => Promise<number> | number) {
  const events: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = String(request.headers['x-webhook-event']);
    const status = await respond(event, JSON.parse(Buffer.concat(chunks).toString()));
    events.push(`${event} ${status}`);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=secret`, events };
}

const register = async (sandbox: Sandbox, url: string): Promise<void> => {
  const body = JSON.stringify({ webhook_url: url });
  const response = await sandbox.fetch('/users', { method: 'POST', headers: headersOf(sandbox), body });
  expect(await response.text()).toContain(url);
};

describe('an example order', () => {
  test('makes an order each time that it is read, and one if it is kept', async () => {
    const sandbox = await start();
    const kept = sandbox.exampleOrder;
    await place(sandbox);
    const first = await place(sandbox, kept);
    expect(kept.idempotency_key).not.toBe(sandbox.exampleOrder.idempotency_key);
    const headers = headersOf(sandbox);
    const again = await sandbox.fetch('/orders', { method: 'POST', headers, body: JSON.stringify(kept) });
    expect(await again.text()).toContain(first.id);
    expect((await get(sandbox, '/orders')).orders).toHaveLength(2);
  });
});

describe('time', () => {
  test('stands still until it is advanced, and then all that was due has happened', async () => {
    const sandbox = await start();
    const { id } = await place(sandbox);
    expect(await get(sandbox, `/orders/${id}`)).toMatchObject({ status: 'pending' });
    expect(await sandbox.advance('3d')).toBe(noon.getTime() + 3 * 86_400_000);
    expect(await get(sandbox, `/orders/${id}`)).toMatchObject({
      status: 'order_placed',
      tracking_numbers: [{ status: 'delivered' }],
    });
    expect(sandbox.requests().map(({ at }) => at)).toEqual([
      noon.getTime(),
      noon.getTime(),
      noon.getTime() + 3 * 86_400_000,
    ]);
  });

  test('is what the clock that is handed over says', async () => {
    let now = noon.getTime();
    const sandbox = await start({ clock: { now: () => now } });
    const { id } = await place(sandbox);
    now += 86_400_000;
    expect(await get(sandbox, `/orders/${id}`)).toMatchObject({ status: 'order_placed' });
    expect(await sandbox.advance(1000)).toBe(now + 1000);
  });

  test('expires minted keys, and never its own', async () => {
    const sandbox = await start();
    const minted = await sandbox.fetch('/sandbox/keys', { method: 'POST' });
    const { api_key } = JSON.parse(await minted.text());
    await sandbox.advance('400d');
    const status = async (apiKey: string) =>
      (await sandbox.fetch('/orders', { headers: headersOf({ ...sandbox, apiKey }) })).status;
    expect([await status(sandbox.apiKey), await status(api_key)]).toEqual([200, 401]);
  });

  test('runs as fast as the speed says', async () => {
    const sandbox = await start({ speed: 1000 });
    const { id } = await place(sandbox);
    await sandbox.advance('20ms');
    expect(await get(sandbox, `/orders/${id}`)).toMatchObject({
      tracking_numbers: [{ status: 'delivered' }],
    });
  });

  test('places the rows of a batch when they are due', async () => {
    const sandbox = await start();
    await sandbox.trigger('wallet-funded', { amount: 1_000_000 });
    const { products, shipping_address, max_price } = sandbox.exampleOrder;
    const { first_name, last_name, ...cells } = shipping_address ?? { first_name: '', last_name: '' };
    const row = { ...cells, name: `${first_name} ${last_name}`, max_price: String(max_price) };
    const rows = Array.from({ length: 50 }, () => ({ ...row, url: products[0]?.url, quantity: '1' }));
    const headers = headersOf(sandbox);
    const uploaded = await sandbox.fetch('/orders/bulk', {
      method: 'POST',
      headers,
      body: JSON.stringify({ rows }),
    });
    expect(uploaded.status, await uploaded.clone().text()).toBeLessThan(300);
    await sandbox.advance('1d');
    const { orders } = await get(sandbox, '/orders?limit=100');
    expect(orders.map(({ status }) => status)).toEqual(rows.map(() => 'order_placed'));
  });
});

describe('webhooks', () => {
  test('reach a receiver in their order, and it finds the service as it was then', async () => {
    const sandbox = await start();
    const seen: (readonly [string, string, string])[] = [];
    const { url, events } = await receiver(async (event, sent) => {
      const now = await get(sandbox, `/orders/${sent.id}`);
      seen.push([event, sent.status, now.status]);
      return 200;
    });
    await register(sandbox, url);
    await place(sandbox);
    await sandbox.advance('3d');
    expect(events.length).toBeGreaterThan(3);
    expect(seen.filter(([, then, now]) => then !== now)).toEqual([]);
    expect(new Set(seen.map(([, then]) => then)).size).toBeGreaterThan(1);
    const deliveries = sandbox.deliveries();
    expect(deliveries.map(({ event }) => `${event} 200`)).toEqual(events);
    expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(['delivered']));
    expect(deliveries.map(({ at, createdAt }) => at - createdAt)).toEqual(deliveries.map(() => 0));
    expect(deliveries[0]?.url).toBe(`${url.replace(/\?.*/, '')}?…`);
    expect(deliveries[0]?.body.status).toBe('in_progress');
  });

  test('that a receiver refuses are sent again in time, within one advance', async () => {
    const sandbox = await start();
    let count = 0;
    const { url } = await receiver(() => (++count > 4 ? 200 : 500));
    await register(sandbox, url);
    await place(sandbox);
    await sandbox.advance('1d');
    const [first] = sandbox.deliveries();
    // Retries after 1, 2, 4 and 8 s.
    expect(first).toMatchObject({ state: 'delivered', attempts: 5, last: { status: 200, error: null } });
    expect((first?.at ?? 0) - (first?.createdAt ?? 0)).toBe(15_000);
  });

  test('are given up after a day where nobody takes them', async () => {
    const sandbox = await start();
    const { url } = await receiver(() => 503);
    await register(sandbox, url);
    await place(sandbox);
    await sandbox.advance('2d');
    expect(sandbox.deliveries()[0]).toMatchObject({ state: 'given up', last: { status: 503 } });
  });

  test('of a trigger are attempted once it resolves', async () => {
    const sandbox = await start();
    const { url, events } = await receiver(() => 204);
    await register(sandbox, url);
    const { id } = await place(sandbox);
    await sandbox.trigger('placed', id);
    expect(events).toContain('request_succeeded 204');
  });
});

describe('a kept state', () => {
  test('comes back as often as wanted, its time with it, and others stay', async () => {
    const sandbox = await start();
    const { id } = await place(sandbox);
    const before = await sandbox.snapshot();
    await sandbox.advance('3d');
    const after = await sandbox.snapshot();
    expect(after.takenAt - before.takenAt).toBe(3 * 86_400_000);
    for (let round = 0; round < 3; round += 1) {
      await sandbox.restore(before);
      expect(await get(sandbox, `/orders/${id}`)).toMatchObject({ status: 'pending' });
      await place(sandbox);
      expect(await sandbox.advance('0s')).toBe(before.takenAt);
      await sandbox.restore(after);
      expect((await get(sandbox, '/orders')).orders.map(({ status }) => status)).toEqual(['order_placed']);
    }
  });

  test('has the same future with the same seed', async () => {
    const sandbox = await start({ seed: 7 });
    const before = await sandbox.snapshot();
    const play = async () => {
      const { id } = await place(sandbox, { idempotency_key: 'one' });
      await sandbox.advance('3d');
      return JSON.stringify(await get(sandbox, `/orders/${id}`));
    };
    const first = await play();
    await sandbox.restore(before);
    expect(await play()).toBe(first);
    const other = await start({ seed: 7 });
    const { id } = await place(other, { idempotency_key: 'one' });
    expect(id).toBe(JSON.parse(first).id);
  });

  test('sends the webhooks that were queued in it again', async () => {
    const sandbox = await start();
    const { url, events } = await receiver(() => 200);
    await register(sandbox, url);
    await place(sandbox);
    const before = await sandbox.snapshot();
    await sandbox.advance('1d');
    const count = events.length;
    await sandbox.restore(before);
    await sandbox.advance('1d');
    expect(events.length).toBeGreaterThan(count);
    expect(new Set(sandbox.deliveries().map(({ state }) => state))).toEqual(new Set(['delivered']));
  });

  test('of another sandbox is refused', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    const snapshot = await one.snapshot();
    await expect(other.restore(snapshot)).rejects.toThrow(/takes a snapshot that this sandbox has given/);
  });
});

describe('a trigger', () => {
  test('does what it says, and is none of the requests that a program has sent', async () => {
    const sandbox = await start();
    const { id } = await place(sandbox);
    expect(await sandbox.trigger('failed', id, { errorType: 'account_locked' })).toMatchObject({
      id,
      status: 'order_failed',
    });
    expect(await sandbox.trigger('wallet-funded', { amount: 500 })).toMatchObject({ amount: 500 });
    expect(sandbox.requests()).toHaveLength(1);
  });

  test.each([
    [['nothing'], 'usage', /there is no event "nothing"; the sandbox knows placed/],
    [['delivered'], 'usage', /sandbox.trigger\("delivered"\) needs the id of an order/],
    [['delivered', crypto.randomUUID()], 'not_found', /There is no order/],
    [['wallet-funded'], 'usage', /needs \{ amount \}, a whole number of cents above 0, not undefined/],
    [['wallet-funded', { amount: 0.5 }], 'usage', /not 0.5/],
    [['wallet-funded', { amount: 2e12 }], 'conflict', /cents fit into the wallet/],
    [['delivered', 'id', { errorType: 'account_locked' }], 'usage', /errorType belongs to failed/],
    [['failed', 'id', { errorType: 'no' }], 'usage', /errorType takes one of .*, not "no"/],
    [['failed', 'id', { reason: 'no' }], 'usage', /has no option "reason"/],
  ])('%j is refused as %s', async (given, category, message) => {
    const sandbox = await start();
    // Arguments the types reject.
    const fired = Reflect.apply(sandbox.trigger, sandbox, given);
    await expect(fired).rejects.toMatchObject({ category, message: expect.stringMatching(message) });
  });
});

describe('what startSandbox refuses', () => {
  test.each([
    [{ portt: 1 }, 'startSandbox has no option "portt"; there are port, seed, speed, clock, faults'],
    [{ memory: true }, /always in memory, and `errand sandbox serve --data FILE` keeps one in a file/],
    [
      { port: 99_999 },
      'startSandbox: port takes a whole number from 0 to 65535, or false for none, not 99999',
    ],
    [{ port: '80' }, /port takes .* not "80"/],
    [{ seed: -1 }, /seed takes a whole number from 0 to 2147483647, not -1/],
    [{ speed: 0 }, /speed takes a whole number from 1 to 1000, not 0/],
    [{ clock: 'slow' }, /clock takes 'real', 'frozen', a valid Date or \{ now\(\): number \}, not "slow"/],
    [{ clock: new Date('never') }, /clock takes .* not Invalid Date/],
    [{ faults: 'refuse' }, /faults takes a list/],
    [{ faults: ['refuse', 'resett'] }, /faults: "resett" is not a fault; write one of refuse, reset-before/],
    ['frozen', /takes an object of options, not "frozen"/],
  ])('%j', async (given, message) => {
    const started = Reflect.apply(startSandbox, undefined, [given]);
    await expect(started).rejects.toThrow(message);
    await expect(started).rejects.toMatchObject({ name: 'UsageError' });
  });

  test('a port that is taken', async () => {
    const { baseUrl } = await start({ port: 0 });
    const port = Number(new URL(baseUrl).port);
    await expect(startSandbox({ port })).rejects.toThrow(
      `startSandbox: port ${port} is taken on 127.0.0.1; without a port it picks a free one`,
    );
  });
});

describe('closed', () => {
  test('it says so, whatever is done, and a second close does nothing', async () => {
    const sandbox = await start();
    const snapshot = await sandbox.snapshot();
    await sandbox.close();
    await sandbox.close();
    const uses = [
      () => sandbox.fetch('/orders'),
      () => sandbox.advance('1d'),
      () => sandbox.snapshot(),
      () => sandbox.restore(snapshot),
      () => sandbox.trigger('key-claimed'),
      async () => sandbox.requests(),
      async () => sandbox.deliveries(),
    ];
    for (const use of uses) await expect(use()).rejects.toThrow('this sandbox is closed');
  });

  test('at the end of the block that uses it', async () => {
    let kept: Sandbox;
    {
      await using sandbox = await startSandbox({ port: false });
      kept = sandbox;
    }
    expect(() => kept.requests()).toThrow('this sandbox is closed');
  });

  test('in the middle of an advance it ends that too', async () => {
    const sandbox = await start();
    const { url } = await receiver(() => 500);
    await register(sandbox, url);
    await place(sandbox);
    const advancing = expect(sandbox.advance('30d')).rejects.toThrow('closed');
    await sandbox.close();
    await advancing;
  });
});
