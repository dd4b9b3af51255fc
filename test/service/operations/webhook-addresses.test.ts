import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  service = await TestService.start();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
  expect(service.bugs).toEqual([]);
});

const register = (url: string) => service.send('POST', '/users', { webhook_url: url });
const cancel = (id: string) => service.send('POST', `/orders/${id}/cancel`);
// The wallet reserves max_price, so keep it low enough for many concurrent orders.
const cheap = () => service.order('test-success', { max_price: 3_000 });
const placed = ['status_updated', 'request_succeeded', 'status_updated'];

describe('POST /users', () => {
  test.each([undefined, null, '', 'hook', 'ftp://127.0.0.1/', 7])('refuses %j as no address', async (url) => {
    const response = await service.send('POST', '/users', { webhook_url: url });
    expect(response.status).toBe(422);
    expect(response.body.detail[0].loc).toEqual(['body', 'webhook_url']);
  });

  test('refuses an address elsewhere, and shows no secret of it', async () => {
    const response = await register('https://ada:pass1@hooks.example/pass2?token=pass3');
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('bad_request');
    expect(response.body.details).toEqual({
      field: 'webhook_url',
      hint: expect.stringContaining('--allow-external-webhooks'),
    });
    expect(response.text).not.toMatch(/pass|ada/);
  });

  test('a refused address leaves the one before in place', async () => {
    await register(receiver.at());
    expect((await register('http://169.254.169.254/')).status).toBe(400);
    const { id } = (await service.order('test-slow')).body;
    await cancel(id);
    await receiver.until(1);
  });

  test('an address is of one caller alone', async () => {
    await register(receiver.at());
    const other = await service.mint();
    await service.order('test-success', {}, other);
    const { id } = (await service.order('test-success')).body;
    service.pass(3_000);
    await service.send('GET', '/orders');
    await receiver.until(3);
    expect(new Set(receiver.received.map(({ orderId }) => orderId))).toEqual(new Set([id]));
  });
});

describe('the events of an order', () => {
  beforeEach(async () => void (await register(receiver.at())));

  test('tracking_obtained comes once, with the last of two packages', async () => {
    await service.order('test-two-packages');
    service.pass(60_000);
    await service.send('GET', '/orders');
    await receiver.until(7);
    const obtained = receiver.received.filter(({ event }) => event === 'tracking_obtained');
    expect(obtained).toHaveLength(1);
    expect(obtained[0]?.body.tracking_numbers).toHaveLength(2);
    expect(receiver.events().slice(3, 6)).toEqual([
      'tracking_updated',
      'tracking_obtained',
      'tracking_updated',
    ]);
  });

  test('come about while nobody asks', async () => {
    await service.order('test-success');
    service.pass(3_000);
    await receiver.until(3);
    expect(receiver.events()).toEqual(placed);
  });

  test('the orders of one caller, each in its own order', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, async () => (await cheap()).body.id));
    // Earlier responses take longest, so that unordered delivery would overtake them.
    let left = 60;
    receiver.reply = async () => {
      left -= 1;
      for (let turn = 0; turn < left; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return { status: 200 };
    };
    service.pass(3_000);
    await service.send('GET', '/orders');
    await receiver.until(ids.length * 3);
    for (const id of ids) {
      const statuses = receiver.received.filter(({ orderId }) => orderId === id);
      expect(statuses.map(({ event }) => event)).toEqual(placed);
      expect(statuses.map(({ body }) => body.status)).toEqual([
        'in_progress',
        'order_placed',
        'order_placed',
      ]);
    }
    expect(receiver.mostAtOnce).toBeGreaterThan(1);
    expect(receiver.mostAtOnce).toBeLessThanOrEqual(20);
  });
});

describe("an order's own webhooks", () => {
  test('the deprecated name order_failed stands for request_failed', async () => {
    await service.order('test-out-of-stock', { webhooks: { order_failed: receiver.at() } });
    service.pass(10_000);
    await service.send('GET', '/orders');
    await receiver.until(1);
    expect(receiver.received[0]).toMatchObject({
      event: 'request_failed',
      body: { error_type: 'out_of_stock' },
    });
  });

  test('an address that is registered as well is called once', async () => {
    await register(receiver.at());
    const webhooks = {
      request_succeeded: [receiver.at(), receiver.at('/more')],
      order_placed: receiver.at(),
      status_updated: null,
    };
    await service.order('test-success', { webhooks });
    service.pass(3_000);
    await service.send('GET', '/orders');
    await receiver.until(4);
    expect(receiver.events('/hook')).toEqual(placed);
    expect(receiver.events('/more')).toEqual(['request_succeeded']);
  });

  test('an address elsewhere refuses the order, an unknown event too', async () => {
    const elsewhere = await service.order('test-success', {
      webhooks: { request_failed: [receiver.at(), 'https://hooks.example/pass'] },
    });
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.body.details).toMatchObject({ field: 'webhooks.request_failed' });
    expect(elsewhere.text).not.toContain('pass');
    const unknown = await service.order('test-success', { webhooks: { delivered: receiver.at() } });
    expect(unknown.status).toBe(422);
    expect((await service.send('GET', '/orders')).body.total).toBe(0);
  });
});

test('credentials and secrets of an address are used', async () => {
  await register(receiver.at('/h?token=s%20s').replace('//', '//ada%40x:p%3Aw@'));
  const { id } = (await service.order('test-slow')).body;
  await cancel(id);
  await receiver.until(1);
  expect(receiver.received[0]?.target).toBe('POST /h?token=s%20s');
  const expected = Buffer.from('ada@x:p:w').toString('base64');
  expect(receiver.received[0]?.headers.authorization).toBe(`Basic ${expected}`);
  expect(receiver.received[0]?.headers.host).toBe(`127.0.0.1:${receiver.port}`);
});

test('with external webhooks allowed an address elsewhere is kept, one of link-local or metadata never', async () => {
  await service.stop();
  service = await TestService.start({ config: { webhooks: { loopback: true, external: true, named: [] } } });
  expect((await register('https://hooks.example/x')).status).toBe(200);
  for (const url of ['http://169.254.169.254/', 'http://[fe80::1]/', 'http://[fd00:ec2::254]/']) {
    expect((await register(url)).status).toBe(400);
  }
});
