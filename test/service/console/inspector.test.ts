import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { hangsAfterMs } from '../../support/limits.ts';
import { orderBody } from '../../support/order-body.ts';
import { page } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';
import { plantSecrets } from './secrets.ts';

let service: TestService;
beforeEach(async () => {
  service = await TestService.start();
});
afterEach(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

/** A page's visible text, without markup. */
const read = async (path: string): Promise<string> =>
  (await page(service, path)).text
    .replace(/<style>.*?<\/style>|<script.*?<\/script>/gs, '')
    // Names in JSON.
    .replace(/<\/?b>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ');

/** The page of the newest request whose line has a text. */
async function inspected(text: string): Promise<{ path: string; text: string }> {
  const list = (await page(service, '/console/requests')).text;
  const [, path = ''] =
    [...list.matchAll(/href="(\/console\/requests\/\d+)">([^<]*)</g)].find(([, , line]) =>
      line?.includes(text),
    ) ?? [];
  return { path, text: await read(path) };
}

test('a request opens: headers, bodies, whose it was, its order, and what sends it once more', async () => {
  const key = await service.mint({ email: 'ada@example.com' });
  const order = { ...orderBody(service.product('test-slow')), po_number: "it's" };
  const { body } = await service.send('POST', '/orders', order, key, { 'idempotency-key': 'k-1' });
  const { path, text } = await inspected('POST /orders');
  for (const part of [
    '201 after',
    'ada@example.com',
    body.id,
    'authorization Bearer …',
    'idempotency-key k-1',
    '"po_number": "it\'s"',
    '"status": "pending"',
    `curl -sX POST ${service.baseUrl}/orders -H "Authorization: Bearer $ERRAND_API_KEY" -H 'Content-Type: application/json' -d '{"products":`,
    `errand api POST /orders --base-url ${service.baseUrl} --input -`,
  ])
    expect(text).toContain(part);
  expect(text).not.toContain(key);
  expect((await page(service, path)).text).toContain(`href="/console/orders/${body.id}"`);
  const { text: older } = await page(
    service,
    path.replace(/\d+$/, (number) => String(Number(number) - 1)),
  );
  expect(older).toContain(`href="${path}" rel="prev">Newer request</a>`);
});

test('a write that is no operation is copied with the option that it takes, or as curl alone', async () => {
  await service.send('PATCH', '/users', {});
  const { text } = await inspected('PATCH /users');
  expect(text).toContain(`errand api PATCH /users --unknown-path --base-url ${service.baseUrl}`);
  await service.send('POST', '/orders;x', {});
  const { text: other } = await inspected('POST /orders;x');
  expect(other).toContain(`curl -sX POST '${service.baseUrl}/orders;x'`);
  expect(other).not.toContain('errand api');
});

test('no call that is copied writes what stands for a secret', async () => {
  await service.send('POST', '/users', { webhook_url: 'http://ada:pw@127.0.0.1:1/hook?s=s3cret' });
  const { text: list } = await page(service, '/console/requests');
  const path = /href="(\/console\/requests\/\d+)"/.exec(list)?.[1] ?? expect.fail(list);
  const { text } = await page(service, path);
  const calls = text.slice(text.indexOf('id="same"'));
  expect(calls).toContain('-d @body.json');
  expect(calls).toContain('the secrets, which are not kept');
  expect(calls).not.toContain('127.0.0.1:1/hook');
});

test('the call that is copied makes the same request', async () => {
  const order = {
    ...orderBody(service.product('test-slow')),
    po_number: `it's "$HOME" \u009b\u202e \\ \`x\``,
  };
  await service.send('POST', '/orders', order);
  const { text } = await page(service, (await inspected('POST /orders')).path);
  const call = /<pre[^>]*>(curl .*?)<\/pre>/s.exec(text)?.[1] ?? '';
  const line = ['&quot;"', "&#39;'", '&lt;<', '&gt;>', '&amp;&'].reduce(
    (all, pair) => all.replaceAll(pair.slice(0, -1), pair.at(-1) ?? ''),
    call,
  );
  const { execFile } = await import('node:child_process');
  const env = { PATH: process.env.PATH, ERRAND_API_KEY: service.key, HOME: '/' };
  const output = await new Promise<string>((resolve, reject) =>
    execFile('sh', ['-c', line], { env }, (error, stdout) => (error ? reject(error) : resolve(stdout))),
  );
  expect(JSON.parse(output)).toMatchObject({ status: 'pending', po_number: order.po_number });
});

test('no secret is on the page of a request, wherever it stood', async () => {
  const secrets = await plantSecrets(service);
  const total = Number(/requests\/(\d+)"/.exec((await page(service, '/console/requests')).text)?.[1]);
  expect(total).toBeGreaterThan(15);
  for (let number = 1; number <= total; number += 1) {
    const text = await read(`/console/requests/${number}`);
    for (const secret of secrets) expect(text, `request ${number}`).not.toContain(secret);
  }
  expect((await inspected('POST /users')).text).toContain('http://…@127.0.0.1:9/hook?…');
});

test('a long body is cut, and so said; a page of it stays small', async () => {
  for (let count = 0; count < 30; count += 1) await service.order('test-slow', { max_price: 2500 });
  await service.send('GET', '/orders?limit=30');
  const { path, text } = await inspected('GET /orders?limit=30');
  expect(text).toMatch(/Cut: its beginning, of \d\d,\d\d\d bytes/);
  expect((await page(service, path)).text.length).toBeLessThan(60_000);
});

test('what a fault did is told beside what the service itself said', async () => {
  await service.stop();
  const faults = ['503@GET /orders', 'reset-after@GET /wallet/me'].map(
    (text) => readFault(text) ?? expect.fail(text),
  );
  service = await TestService.start({ faults });
  await service.send('GET', '/orders');
  const spoiled = (await inspected('GET /orders')).text;
  expect(spoiled).toContain('What the client got Made by the fault 503@GET /orders .');
  expect(spoiled).toContain('"code": "service_unavailable"');
  expect(spoiled).toContain('Nothing: the fault came before the service saw the request.');
  await expect(service.send('GET', '/wallet/me')).rejects.toThrow();
  expect((await inspected('GET /wallet/me')).text).toMatch(/broken off after .* "balance": 100000/);
});

test('requests are found by path, order, status, method, user and failure, with counts', async () => {
  const ada = await service.mint({ email: 'ada@example.com' });
  const { id } = (await service.order('test-slow', {}, ada)).body;
  await service.send('GET', `/orders/${id}`, undefined, ada);
  await service.send('GET', '/wallet/me', undefined, 'nonsense');
  const lines = async (query: string): Promise<string[]> =>
    [
      ...(await page(service, `/console/requests?${query}`)).text.matchAll(/requests\/\d+[^"]*">([^<]*)</g),
    ].map(([, line = '']) => line);
  for (const [query, found] of [
    [`q=${id.slice(0, 6)}`, [`GET /orders/${id}`, 'POST /orders']],
    ['class=4xx', ['GET /wallet/me']],
    ['failed=1', ['GET /wallet/me']],
    ['method=GET', ['GET /wallet/me', `GET /orders/${id}`]],
    ['user=ADA@&method=POST', ['POST /orders']],
    ['q=WALLET&class=2xx', []],
  ] as const)
    expect(await lines(query), query).toEqual(found);
  expect(await read('/console/requests?user=ada')).toMatch(
    /all 2 2xx 2 3xx 0 4xx 0 5xx 0 broken off 0 2 of 5 requests/,
  );
});

test.each(['0', '99', 'x', '1e3'])('there is no request %s', async (number) => {
  expect((await page(service, `/console/requests/${number}`)).status).toBe(404);
});

test('a delivery opens: each attempt with its time and result, headers, body, its order', async () => {
  const receiver = await Receiver.start();
  try {
    await service.send('POST', '/users', { webhook_url: receiver.at('/hook?secret=s3cret') });
    receiver.reply = () => ({ status: 500 });
    const { id } = (await service.order('test-slow', { po_number: 'PO-9' })).body;
    await service.send('POST', `/orders/${id}/cancel`);
    await expect.poll(() => read('/console/deliveries')).toContain('HTTP 500');
    receiver.reply = () => ({ status: 204 });
    service.pass(10_000);
    await service.send('GET', '/wallet/me');
    await receiver.until(2);
    const [, path = ''] =
      /href="(\/console\/deliveries\/[\w-]+)"/.exec((await page(service, '/console/deliveries')).text) ?? [];
    await vi.waitFor(async () => {
      const text = await read(path);
      expect(text).toMatch(/2026-03-01 12:00:10 HTTP 204 .*2026-03-01 12:00:00 HTTP 500 /);
      for (const part of [
        id,
        'x-webhook-event status_updated',
        '"po_number": "PO-9"',
        'curl -sX POST "$WEBHOOK_URL"',
      ])
        expect(text).toContain(part);
      expect(text).not.toContain('s3cret');
    }, hangsAfterMs);
    const count = async (query: string) =>
      /[\d,]+ (?:of [\d,]+ )?deliver(?:y|ies)/.exec(await read(`/console/deliveries?${query}`))?.[0];
    expect(await count('state=delivered&event=status_updated&class=2xx')).toBe('1 of 1 delivery');
    expect(await count(`id=${id.slice(0, 5)}&failed=1`)).toBe('0 of 1 delivery');
    expect(await count('class=5xx')).toBe('0 of 1 delivery');
    expect(await count('')).toBe('1 delivery');
  } finally {
    await receiver.stop();
  }
});
