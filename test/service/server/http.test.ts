import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorCodes } from '../../../src/api/error-codes.ts';
import { servedReadBudgetMs } from '../../../src/sandbox/config.ts';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { defaultLimits } from '../../../src/sandbox/server/request.ts';
import { orderBody } from '../../support/order-body.ts';
import { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';
import { exchange } from './socket.ts';

describe('over HTTP', () => {
  let service: TestService;
  startedForEach((started) => {
    service = started;
  });

  const raw = (head: string, body = '') => exchange(service.baseUrl, `${head}\r\n\r\n${body}`);

  test('HEAD responds as GET does, without the body', async () => {
    const { length } = (await service.send('GET', '/wallet/me')).text;
    const response = await service.send('HEAD', '/wallet/me');
    expect(response).toMatchObject({ status: 200, text: '' });
    expect(Number(response.headers.get('content-length'))).toBe(length);
    expect(await service.send('HEAD', '/orders/export')).toMatchObject({ status: 200, text: '' });
  });

  test.each(['OPTIONS', 'PATCH', 'PUT'])('%s is told what the path takes', async (method) => {
    const { status, headers, body } = await service.send(method, '/orders');
    expect({ status, allow: headers.get('allow'), code: body.code }).toEqual({
      status: 405,
      allow: 'GET, HEAD, POST',
      code: 'bad_request',
    });
  });

  test('a read spends a few milliseconds at most on what has become due', () => {
    expect(service.parts.readBudget.forRead(Date.parse('2026-03-01T12:00:00Z'))).toBe(servedReadBudgetMs);
  });

  test('an escaped path is the same path', async () => {
    const { id } = (await service.order('test-success')).body;
    for (const path of [`/%6Frders/${id}`, `/orders/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`])
      expect((await service.send('GET', path)).body.id).toBe(id);
    expect((await service.send('POST', `/orders/${id}/%63ancel`)).status).toBe(204);
    expect((await service.send('GET', '/orders%2F1')).status).toBe(404);
    expect((await service.send('GET', '/orders/%zz')).status).toBe(404);
    const { svc_tracking_url: url } = {
      svc_tracking_url: `/track/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
    };
    expect((await service.send('GET', url, undefined, null)).body.order_id).toBe(id);
  });

  test.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['application/vnd.api+json', 201],
    ['text/plain', 422],
    ['application/x-www-form-urlencoded', 422],
    ['application/jsonp', 422],
  ])('a body of %s: %i', async (type, status) => {
    const body = orderBody(service.product('test-success'));
    const response = await service.send('POST', '/orders', body, service.key, { 'content-type': type });
    expect(response.status).toBe(status);
    if (status === 422) expect(response.body.detail[0].msg).toContain('application/json');
  });

  test('a body that does not say what it is, is JSON', async () => {
    const body = JSON.stringify(orderBody(service.product('test-success')));
    const head = `POST /orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${service.key}`;
    expect(await raw(`${head}\r\nContent-Length: ${body.length}`, body)).toMatch(/^HTTP\/1.1 201 /);
  });

  test.each(['/orders', '/orders/export', '/nowhere', '/openapi.json', '/shop', '/'])(
    'no browser keeps what %s returns, or takes it for something else',
    async (path) => {
      const { headers } = await service.send('GET', path);
      expect([headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual([
        'nosniff',
        'no-store',
      ]);
    },
  );

  test('what is refused before the service sees it carries a request id too', async () => {
    expect(await raw('HELLO')).toMatch(/\r\nx-request-id: \S+\r\n/);
  });

  test('the description lists the retailers that a search takes, and every error code', async () => {
    const { paths, components } = (await service.send('GET', '/openapi.json', undefined, null)).body;
    const { retailers } = (await service.send('GET', '/retailers', undefined, null)).body;
    for (const operation of [paths['/search'].get, paths['/agent/search'].post]) {
      const { schema } = operation.parameters.find(({ name }: { name: string }) => name === 'retailer');
      expect(schema.enum).toEqual(retailers.map(({ retailer }: { retailer: string }) => retailer));
      expect(schema.enum).toHaveLength(14);
    }
    expect(components.schemas.ErrorResponse.properties.code.enum).toEqual(Object.keys(errorCodes));
  });

  test('an absolute target, as a proxy sends it, is understood', async () => {
    const { baseUrl, key } = service;
    const response = await raw(
      `GET ${baseUrl}/wallet/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}`,
    );
    expect(response).toMatch(/^HTTP\/1.1 200 /);
  });

  test.each([
    ['what is no HTTP', 'HELLO', 400],
    ['headers of 40 kB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}`, 431],
  ])('%s is refused with the documented body', async (_, head, status) => {
    const response = await raw(head);
    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toMatchObject({ code: 'bad_request' });
    expect((await service.order('test-success')).status).toBe(201);
  });

  test('callers who hang up in the middle of a body or of a response are no bug', async () => {
    const { port, hostname } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    const begun = 'POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"products"';
    socket.write(begun, () => socket.destroy());
    await once(socket, 'close');
    for (let order = 0; order < 5; order += 1) await service.order('test-never', { max_price: 1 });
    const controller = new AbortController();
    const response = await fetch(`${service.baseUrl}/orders/export`, {
      headers: { authorization: `Bearer ${service.key}` },
      signal: controller.signal,
    });
    controller.abort();
    await response.text().catch(() => {});
    expect((await service.send('GET', '/orders')).body.total).toBe(5);
  });

  test('many requests use one connection', async () => {
    const head = `GET /orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\n`;
    const responses = await exchange(
      service.baseUrl,
      `${head}\r\n${head}\r\n${head}Connection: close\r\n\r\n`,
    );
    expect(responses.match(/HTTP\/1.1 200 OK/g)).toHaveLength(3);
  });

  test('a key reaches the service under any case of the scheme; nothing after it is taken', async () => {
    const status = async (authorization: string) =>
      (await service.send('GET', '/wallet/me', undefined, null, { authorization })).status;
    expect(await status(`bearer ${service.key}`)).toBe(200);
    expect(await status(`Bearer ${service.key} more`)).toBe(401);
    expect(await status(`Basic ${Buffer.from(`${service.key}:`).toString('base64')}`)).toBe(401);
  });

  test('the legacy surface takes the key as user name, and only with a blank password', async () => {
    const code = async (credentials: string) => {
      const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
      const target = `/v1/orders/${crypto.randomUUID()}/retry`;
      return (await service.send('POST', target, undefined, null, { authorization })).body.code;
    };
    expect(await code(`${service.key}:secret`)).toBe('invalid_token');
    expect(await code(`${service.key}::`)).toBe('invalid_token');
    expect(await code(`${service.key}:`)).not.toBe('invalid_token');
  });

  test('what is past the first question mark belongs to the query', async () => {
    const { body } = await service.order('test-never', { metadata: { note: 'why?' }, max_price: 1 });
    const found = await service.send('GET', '/orders?metadata_key=note&metadata_value=why?');
    expect(found.body.orders.map(({ id }: { id: string }) => id)).toEqual([body.id]);
  });

  test('unknown query parameters are passed over', async () => {
    expect((await service.send('GET', '/orders?colour=red&__proto__=1')).status).toBe(200);
  });

  test('the pages that a minted key and the shop lead to are there', async () => {
    const { body } = await service.send('POST', '/sandbox/keys', undefined, null);
    for (const url of [body.quickstart_url, `${service.baseUrl}/shop`, service.product('test-success')]) {
      const page = await fetch(url);
      expect(page.status, url).toBe(200);
      expect(page.headers.get('content-type')).toContain('text/html');
    }
  });
});

test('a body that is too large is refused alike over HTTP and in the process', async () => {
  const opened = await openSandbox({
    file: ':memory:',
    baseUrl: 'http://127.0.0.1:4848',
    now: Date.now,
    report: () => {},
  });
  const service = await TestService.start();
  const order = { ...orderBody('https://a.example'), po_number: 'x'.repeat(defaultLimits.bytes) };
  const embedded = await opened.handle({
    method: 'POST',
    target: '/orders',
    headers: {},
    body: new TextEncoder().encode(JSON.stringify(order)),
    remoteAddress: '',
  });
  const served = await service.send('POST', '/orders', order);
  expect([embedded.status, served.status]).toEqual([413, 413]);
  expect(JSON.parse(String(embedded.body))).toEqual(served.body);
  opened.close();
  await service.stop();
});

test('a body that is too large is a page for a browser, like every refusal of a form', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.stop());
  const body = 'x'.repeat(defaultLimits.bytes + 1);
  const page = await service.send('POST', '/console/mint', body, null, { accept: 'text/html' });
  expect([page.status, page.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
  expect(page.text).toContain(`The body is larger than ${defaultLimits.bytes} bytes.`);
});
