import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  type ListenerLimits,
  openListener,
  type Received,
  type SaveResult,
} from '../../../src/integrations/webhooks/listener.ts';
import { order, orderId } from '../../support/webhook-order.ts';

const secret = 'a-secret-that-nobody-guesses';

async function listener(
  keep: (received: Received) => SaveResult = () => 'new',
  limits: Partial<ListenerLimits> = {},
) {
  const kept: Received[] = [];
  const opened = await openListener({
    host: '127.0.0.1',
    port: 0,
    secret,
    limits,
    async save(received) {
      const outcome = keep(received);
      kept.push(received);
      return outcome;
    },
  });
  onTestFinished(() => opened.close());
  return { url: opened.url, kept, close: opened.close };
}

const post = (url: string, body: RequestInit['body'] = JSON.stringify(order('pending')), headers = {}) =>
  fetch(url, { method: 'POST', body: body ?? null, headers, duplex: 'half' } as RequestInit);

/** Writes raw bytes to the listener and reads the entire response. */
function raw(url: string, ...parts: (string | Promise<string>)[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)));
    void (async () => {
      for (const part of parts) socket.write(await part);
    })();
  });
}

test('an event is kept with its name, order and status, and then acknowledged', async () => {
  const { url, kept } = await listener();
  const response = await post(url, JSON.stringify(order('order_failed', { error_type: 'out_of_stock' })), {
    'x-webhook-event': 'request_failed',
  });
  expect(response.status).toBe(200);
  expect(kept).toMatchObject([
    { event: 'request_failed', orderId, status: 'order_failed', errorType: 'out_of_stock' },
  ]);
});

test('the order of an event is found where the object only names it, and its error in the job result', async () => {
  const { url, kept } = await listener();
  await post(
    url,
    JSON.stringify({ id: 'case-7', order_id: orderId, job_result: { error_type: 'cart_empty' } }),
    { 'x-webhook-event': 'case_updated' },
  );
  expect(kept).toMatchObject([{ event: 'case_updated', orderId, status: null, errorType: 'cart_empty' }]);
});

test.each([
  ['another secret', 'POST', (url: string) => `${url}x`],
  ['no secret', 'POST', (url: string) => new URL('/', url).href],
  ['a path below it', 'POST', (url: string) => `${url}/more`],
  ['GET', 'GET', (url: string) => url],
  ['PUT', 'PUT', (url: string) => url],
])('%s finds nothing, and nothing is kept', async (_, method, at) => {
  const { url, kept } = await listener();
  const response = await fetch(at(url), { method, ...(method !== 'GET' && { body: '{}' }) });
  expect(response.status).toBe(404);
  expect(kept).toEqual([]);
});

test('a query behind the secret is no part of it', async () => {
  const { url } = await listener();
  expect((await post(`${url}?attempt=2`)).status).toBe(200);
});

test.each([
  ['text', 'nope'],
  ['nothing', ''],
  ['half an object', '{"id": "1'],
  ['an array', '[{"id": "1"}]'],
  ['a number', '7'],
  ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ['a gzip', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0])],
  ['a hundred thousand levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
])('a body that is %s is refused with 400', async (_, body) => {
  const { url, kept } = await listener();
  expect((await post(url, body)).status).toBe(400);
  expect(kept).toEqual([]);
});

test('a body of hostile text is refused with 400', async () => {
  const { url } = await listener();
  expect((await post(url, `{"a":"${'\\"'.repeat(250_000)}`)).status).toBe(400);
});

test('brackets within texts are no levels', async () => {
  const { url } = await listener();
  expect((await post(url, JSON.stringify({ note: '\\"[{'.repeat(1000) }))).status).toBe(200);
});

test('more than the limit is refused with 413, announced or not', async () => {
  const { url, kept } = await listener(undefined, { bodyBytes: 1000 });
  const long = JSON.stringify({ note: 'x'.repeat(2000) });
  expect((await post(url, long)).status).toBe(413);
  const chunked = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of [long.slice(0, 900), long.slice(900)]) controller.enqueue(Buffer.from(part));
      controller.close();
    },
  });
  expect((await post(url, chunked)).status).toBe(413);
  expect(kept).toEqual([]);
});

test('headers that do not come in time end with 408', async () => {
  const { url } = await listener(undefined, { headersMs: 200, requestMs: 200 });
  expect(await raw(url, `POST /${secret} HTTP/1.1\r\nHost: x\r\n`)).toMatch(/^HTTP\/1\.1 408 /);
});

test('a body that does not come in time ends with 408, and nothing is kept', async () => {
  const { url, kept } = await listener(undefined, { headersMs: 200, requestMs: 200 });
  const response = await raw(url, `POST /${secret} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"a"`);
  expect(response).toMatch(/^HTTP\/1\.1 408 /);
  expect(kept).toEqual([]);
});

test('headers without end are refused with 431', async () => {
  const { url } = await listener();
  const response = await raw(
    url,
    `POST /${secret} HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
  );
  expect(response).toMatch(/^HTTP\/1\.1 431 /);
});

test('while as many are read as may be, another one is told to come again', async () => {
  const { url, kept } = await listener(undefined, { concurrent: 1 });
  let go = (_: string): void => {};
  const rest = new Promise<string>((resolve) => {
    go = resolve;
  });
  const slow = raw(
    url,
    `POST /${secret} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{`,
    rest,
  );
  await expect
    .poll(async () => {
      const response = await post(url);
      return [response.status, response.headers.get('retry-after')];
    })
    .toEqual([503, '1']);
  go('}');
  expect(await slow).toMatch(/^HTTP\/1\.1 200 /);
  expect(kept.at(-1)?.body).toBe('{}');
  expect((await post(url)).status).toBe(200);
});

test('what cannot be kept is not acknowledged', async () => {
  const { url } = await listener(() => {
    throw new Error('the disk is full');
  });
  const response = await post(url);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.text()).not.toContain('disk');
});

test('no header that may carry a credential is kept', async () => {
  const { url, kept } = await listener();
  await post(url, '{}', {
    authorization: 'Basic c2VjcmV0',
    cookie: 'session=1',
    'x-api-key': 'k',
    'x-webhook-event': 'status_updated',
    'x-webhook-attempt': '2',
  });
  const [{ headers } = { headers: {} }] = kept;
  expect(headers).toMatchObject({ 'x-webhook-event': 'status_updated', 'x-webhook-attempt': '2' });
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']));
  expect(JSON.stringify(headers)).not.toMatch(/c2VjcmV0|session|api-key/);
});

test('a port that is taken is named', async () => {
  const { url } = await listener();
  const port = Number(new URL(url).port);
  await expect(openListener({ host: '127.0.0.1', port, secret, save: async () => 'new' })).rejects.toThrow(
    `--port ${port} is taken`,
  );
});

test('a delivery that is being read when the listener closes is still kept', async () => {
  const { url, kept, close } = await listener();
  let go = (_: string): void => {};
  const rest = new Promise<string>((resolve) => {
    go = resolve;
  });
  const slow = raw(url, `POST /${secret} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{`, rest);
  await new Promise((resolve) => setImmediate(resolve));
  await fetch(new URL('/', url));
  const closed = close();
  go('}');
  expect(await slow).toMatch(/^HTTP\/1\.1 200 /);
  await closed;
  expect(kept).toHaveLength(1);
});
