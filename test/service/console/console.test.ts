import { describe, expect, test } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { page, rowOf, submit } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const place = async (slug: string, more = {}): Promise<string> => (await service.order(slug, more)).body.id;

describe('the front page', () => {
  test('tells a newcomer what this is and the three lines of a first order', async () => {
    const { status, headers, text } = await page(service, '/');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('nothing is bought and no money moves');
    expect(text).toContain(`curl -sX POST ${service.baseUrl}/sandbox/keys`);
    expect(text).toMatch(/<details class="card" open>/);
    await place('test-success');
    expect((await page(service, '/')).text).toMatch(/<details class="card">/);
  });

  test('shows orders of every key, with state, items, total or ceiling, and age', async () => {
    const ada = await service.mint({ email: 'ada@example.com' });
    const mine = await place('test-success');
    const hers = (await service.order('test-slow', {}, ada)).body.id;
    service.pass(12_000);
    const { text } = await page(service, '/');
    expect(rowOf(text, `order-${mine}`)).toEqual([
      `Successful order ${mine.slice(0, 8)}`,
      'delivered',
      'Ada Byron',
      '$19.99',
      expect.any(String),
      '12 s ago',
    ]);
    expect(rowOf(text, `order-${hers}`)).toMatchObject({
      1: 'waiting',
      3: 'at most $50.00',
      4: 'ada@example.com',
    });
    expect(text).toContain(`href="/console/orders/${mine}"`);
  });

  test('an order of many lines takes no more room than one of few', async () => {
    const lines = (count: number) => ({
      products: Array.from({ length: count }, (_, index) => ({
        url: `${service.product('test-slow')}?${index}`,
      })),
    });
    const [four, forty] = [await place('test-slow', lines(4)), await place('test-slow', lines(40))];
    const { text } = await page(service, '/');
    const names = 'Slow start, Slow start, Slow start, Slow start';
    expect(rowOf(text, `order-${four}`)[0]).toBe(`${names} ${four.slice(0, 8)}`);
    expect(rowOf(text, `order-${forty}`)[0]).toBe(`${names} and 36 more ${forty.slice(0, 8)}`);
  });

  test('shows the clock, and each key’s wallet without a key', async () => {
    const key = await service.mint({ email: 'ada@example.com', name: 'laptop' });
    await service.order('test-slow', {}, key);
    const { text } = await page(service, '/');
    expect(text).toContain('2026-03-01 12:00:00');
    expect(text).toContain('sbx_test_…</span> laptop');
    expect(rowOf(text, 'key-2')).toMatchObject({ 2: '$1,000.00', 3: '$51.00', 4: '1' });
    expect(text).not.toContain(key);
  });

  test('the clock tells how far it was moved, however long the page takes to make', async () => {
    let real = Date.parse('2026-03-01T12:00:00Z');
    const opened = await openSandbox({
      file: ':memory:',
      baseUrl: service.baseUrl,
      now: () => {
        real += 1;
        return real;
      },
      report: () => {},
    });
    const request = { method: 'GET', target: '/', headers: {}, body: new Uint8Array(), remoteAddress: '::1' };
    expect(String((await opened.handle(request)).body)).not.toMatch(/<small>[+−]\d+ [a-z]+<\/small>/);
    await opened.service.clock.advance(3 * 86_400_000);
    expect(String((await opened.handle(request)).body)).toContain('<small>+3 d</small>');
    await opened.close();
  });

  test('the network of a program may be slow; the page does not wait', async () => {
    const { handle, close } = await openSandbox({
      file: ':memory:',
      baseUrl: service.baseUrl,
      now: Date.now,
      report: () => {},
      config: { latencyMs: 10 * 60_000 },
    });
    const headers = { host: 'localhost', accept: 'text/html' };
    const request = { method: 'GET', target: '/', headers, body: new Uint8Array(), remoteAddress: '::1' };
    expect((await handle(request)).status).toBe(200);
    await close();
  });

  test('HEAD responds as GET does, and other methods are told what it takes', async () => {
    expect(await page(service, '/', {}, 'HEAD')).toMatchObject({ status: 200, text: '' });
    for (const path of ['/', '/console/orders', '/shop', '/shop/test-success']) {
      const { status, headers } = await page(service, path, {}, 'DELETE');
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
    const { status, headers } = await page(service, '/console/deliveries/1/replay');
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('the page of an order', () => {
  test('follows it: timeline, parcels with checkpoints, money, record', async () => {
    const id = await place('test-two-packages', { po_number: 'PO-7' });
    const path = `/console/orders/${id}`;
    const first = (await page(service, path)).text;
    expect(first).toContain('Order created');
    expect(first).toContain('the next step is <time ');
    expect(first).toContain('<div class="event next"><span class="title"><strong>Delivered');
    service.pass(12_000);
    const { text } = await page(service, path);
    expect(text.match(/<strong>Delivered<\/strong>/g)).toHaveLength(2);
    expect(text).toContain('Label made; waiting for the parcel');
    for (const part of [
      'PO-7',
      '$19.99',
      'Ada Byron, 1 Main St',
      '<b>&quot;max_price&quot;</b>: 5000',
      '<dt>Retailer</dt><dd>the sandbox shop</dd>',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('<li class="next');
  });

  test('says in words why an order failed, and what to do', async () => {
    const id = await place('test-out-of-stock');
    service.pass(5000);
    const { text } = await page(service, `/console/orders/${id}`);
    expect(text).toContain('The item is out of stock.');
    expect(text).toContain('out_of_stock');
    expect(text).toContain('choose another or order again later');
  });

  test.each(['nothing', crypto.randomUUID()])('there is none at %s', async (id) => {
    expect((await page(service, `/console/orders/${id}`)).status).toBe(404);
  });

  test('a pending order is cancelled by its button, a placed one has none', async () => {
    const id = await place('test-slow');
    const path = `/console/orders/${id}`;
    expect((await page(service, path)).text).toContain(`action="${path}/cancel"`);
    const done = await submit(service, `${path}/cancel`);
    expect([done.status, done.headers.get('location')]).toEqual([303, path]);
    expect((await service.send('GET', `/orders/${id}`)).body.status).toBe('cancelled');
    expect((await page(service, path)).text).not.toContain(`action="${path}/`);
    const late = await submit(service, `${path}/cancel`);
    expect(late.status).toBe(409);
    expect(late.text).toContain('only a pending order can be cancelled');
  });

  test('what can happen is made to happen now, what cannot is not offered', async () => {
    const id = await place('test-slow');
    const path = `/console/orders/${id}`;
    for (const [event, next] of [
      ['placed', 'cancelled-by-retailer'],
      ['shipped', 'undeliverable'],
      ['delivered', undefined],
    ] as const) {
      expect((await submit(service, `${path}/${event}`)).status).toBe(303);
      const { text } = await page(service, path);
      expect(text).not.toContain(`action="${path}/placed"`);
      if (next) expect(text).toContain(`action="${path}/${next}"`);
    }
    expect((await service.send('GET', `/orders/${id}`)).body.tracking_numbers[0].status).toBe('delivered');
    expect((await submit(service, `${path}/shipped`)).status).toBe(409);
    expect((await submit(service, `${path}/nonsense`)).status).toBe(404);
    expect((await submit(service, `/console/orders/${crypto.randomUUID()}/cancel`)).status).toBe(404);
  });

  test('an order fails for the reason that was chosen', async () => {
    const id = await place('test-slow');
    const path = `/console/orders/${id}`;
    const { text } = await page(service, path);
    expect(text).toContain('<option value="checkout_failed" selected>');
    const unknown = await submit(service, `${path}/failed`, { error_type: 'nonsense' });
    expect(unknown.status).toBe(400);
    expect(unknown.text).toContain('takes one of the reasons of the list');
    expect((await submit(service, `${path}/failed`, { error_type: 'account_locked' })).status).toBe(303);
    expect((await service.send('GET', `/orders/${id}`)).body).toMatchObject({
      status: 'order_failed',
      job_result: { error_type: 'account_locked' },
    });
  });

  test('beside its buttons stand the commands and calls that do the same', async () => {
    const id = await place('test-slow');
    const { text } = await page(service, `/console/orders/${id}`);
    const command = `errand sandbox trigger shipped ${id} --base-url ${service.baseUrl}`;
    expect(text).toContain(`<pre tabindex="0">${command}</pre>`);
    expect(text).toContain(`<pre tabindex="0">errand order cancel ${id} --base-url ${service.baseUrl}</pre>`);
    expect(text).toContain(`{&quot;event&quot;:&quot;shipped&quot;,&quot;id&quot;:&quot;${id}&quot;}`);
    expect(text).toContain('Authorization: Bearer $ERRAND_API_KEY');
    expect(text).not.toContain(service.key);
  });
});

test('orders and deliveries are read page by page, each row once', async () => {
  const receiver = await Receiver.start();
  try {
    await service.send('POST', '/users', { webhook_url: receiver.at() });
    for (let placed = 0; placed < 60; placed += 1) await place('test-price-exceeded', { max_price: 100 });
    service.pass(5000);
    for (const [path, row, count] of [
      ['/console/orders', /id="(order-[^"]+)"/g, 60],
      ['/console/deliveries', /id="(delivery-[^"]+)"/g, 180],
    ] as const) {
      const seen: string[] = [];
      let next: string | undefined = path;
      while (next) {
        const { text } = await page(service, next);
        seen.push(...[...text.matchAll(row)].map(([, id = '']) => id));
        next = /href="([^"]+)" rel="next"/.exec(text)?.[1];
      }
      expect([seen.length, new Set(seen).size]).toEqual([count, count]);
    }
  } finally {
    await receiver.stop();
  }
});

test('a list that ends with a page leads no further, and past its end it says so', async () => {
  for (let count = 0; count < 25; count += 1) await place('test-never', { max_price: 2000 });
  expect((await page(service, '/console/orders')).text).not.toContain('rel="next"');
  const newest = await place('test-never', { max_price: 2000 });
  const { text } = await page(service, '/console/orders');
  expect(text).toContain('href="/console/orders?before=2" rel="next"');
  expect(text).not.toContain('Newest');
  for (const path of ['orders', 'deliveries', 'requests', 'keys']) {
    const past = (await page(service, `/console/${path}?before=1`)).text;
    expect(past, path).toContain('Nothing is older.');
    expect(past, path).toContain(`<a href="/console/${path}">Newest</a>`);
  }
  for (const before of ['', 'x', '-1', '0', '1e3', '9'.repeat(16), '9'.repeat(30)])
    expect((await page(service, `/console/orders?before=${before}`)).text).toContain(`order-${newest}`);
});
