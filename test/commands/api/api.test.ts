import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyedOrder, order, orderId } from '../../support/caller.ts';
import { json, peer, reset, text } from '../../support/peer.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const testKey = 'xx_test_0123456789abcdef0123';
const liveKey = 'xx_live_0123456789abcdef0123';

describe('errand api', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = makeWorkspace({ ERRAND_API_KEY: testKey });
    writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(keyedOrder));
  });
  afterEach(() => workspace.remove());

  const api = (url: string, ...args: string[]) =>
    errand(workspace, ['api', ...args, '--base-url', url, '--timeout', '10m']);

  test('sends what was given: query, body, headers, and the key', async () => {
    const { url, received } = await peer(json({ id: 'u1' }));
    const { code, stdout } = await api(
      url,
      ...['POST', 'users?a=1', '-F', 'n=5', '-f', 'list[]=5', '-H', 'X-Team: web', '-H', 'x-team: ops'],
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ id: 'u1' });
    expect(received).toMatchObject([
      {
        method: 'POST',
        target: '/users?a=1',
        body: '{"list":["5"],"n":5}',
        headers: {
          authorization: `Bearer ${testKey}`,
          'x-team': 'web, ops',
          'content-type': 'application/json',
        },
      },
    ]);
  });

  test('fields of a GET, and those beside --input, go into the query', async () => {
    const { url, received } = await peer(json({}));
    await api(url, 'GET', '/x?a=1', '-f', 'include[]=p', '-f', 'include[]=q', '-F', 'n=null');
    await api(url, 'PUT', '/x', '--unknown-path', '--input', 'order.json', '-f', 'b=&');
    expect(received.map(({ target }) => target)).toEqual(['/x?a=1&include=p&include=q&n=', '/x?b=%26']);
    expect(JSON.parse(received[1]?.body ?? '')).toEqual(keyedOrder);
  });

  test('an unknown read is sent again after a failure, an unknown write is not', async () => {
    const read = await peer(json({}, 503), json({ ok: true }));
    expect(await api(read.url, '/unknown')).toMatchObject({ code: 0 });
    expect(read.received).toHaveLength(2);
    const write = await peer(json({}, 503), json({ ok: true }));
    expect(await api(write.url, 'POST', '/unknown', '--unknown-path', '-f', 'a=b')).toMatchObject({
      code: 9,
    });
    expect(write.received).toHaveLength(1);
  });

  test('--paginate follows offset where the table says so, as one JSON array', async () => {
    const row = (at: number) => ({ id: `order-${at}`, status: 'pending' });
    const { url, received } = await peer((response, { target }, socket) => {
      const offset = Number(new URL(target, 'http://x').searchParams.get('offset') ?? 0);
      const orders = [row(offset), row(offset + 1)].filter((_, at) => offset + at < 5);
      json({ orders, total: 5 })(response, { target } as never, socket);
    });
    const { code, stdout } = await api(url, '/orders?limit=2&status_filter=pending', '--paginate');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([0, 1, 2, 3, 4].map(row));
    expect(
      received.map(({ target }) => new URLSearchParams(target.split('?')[1]).get('status_filter')),
    ).toEqual(['pending', 'pending', 'pending']);
  });

  test('--paginate follows next_page of a path that the table does not know', async () => {
    const { url, received } = await peer(
      json({ things: [{ id: 'a' }], next_page: 2 }),
      json({ things: [], next_page: 3 }),
      json({ things: [{ id: 'b' }], next_page: null }),
    );
    const { stdout } = await api(url, '/things?q=x', '--paginate', '-o', 'id');
    expect(stdout).toBe('a\nb\n');
    expect(received.map(({ target }) => target)).toEqual([
      '/things?q=x',
      '/things?q=x&page=2',
      '/things?q=x&page=3',
    ]);
  });

  test('--paginate ends with the whole records that came where a later page fails', async () => {
    const { url } = await peer(
      json({ things: [{ id: 'a' }], next_page: 2 }),
      json({ code: 'forbidden' }, 403),
    );
    const { code, stdout } = await api(url, '/things', '--paginate', '-o', 'ndjson');
    expect(code).toBe(3);
    expect(stdout).toBe('{"id":"a"}\n');
  });

  test('an order whose response is lost is in doubt, and the same request settles it as one order', async () => {
    const lost = await peer(reset);
    const first = await api(lost.url, '/orders', '--input', 'order.json', '--retries', '0');
    expect(first.code).toBe(10);
    expect(first.stderr).toContain('errand order journal resume intent-1');
    const back = await peer(reset, json(order, 201));
    await api(back.url, '/orders', '--input', 'order.json', '--retries', '0');
    const again = await api(back.url, '/orders', '--input', 'order.json', '-o', 'id');
    expect(again).toMatchObject({ code: 0, stdout: `${orderId}\n` });
    expect(back.received.map(({ body }) => JSON.parse(body).idempotency_key)).toEqual([
      'intent-1',
      'intent-1',
    ]);
    expect(
      (await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'tsv', '--fields', 'state']))
        .stdout,
    ).toBe('state\nintended\nreported\n');
  });

  test.each(['/orders', 'orders'])(
    'an order without a key gets one, and is journaled: POST %s',
    async (path) => {
      const { idempotency_key: _, ...keyless } = keyedOrder;
      writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(keyless));
      const made = { ...order, created_at: new Date().toISOString() };
      const { url, received } = await peer(json(made, 201));
      expect(await api(url, path, '--input', 'order.json')).toMatchObject({ code: 0 });
      expect(await api(url, path, '--input', 'order.json')).toMatchObject({ code: 5 });
      // The order is read before its repeat is refused.
      expect(received.map(({ method }) => method)).toEqual(['POST', 'GET']);
      const key = JSON.parse(received[0]?.body ?? '').idempotency_key;
      expect((await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'id'])).stdout).toBe(
        `${key}\n`,
      );
    },
  );

  test.each([
    ['/orders', '--input', 'order.json'],
    ['/orders/bulk', '-f', 'rows[][product_url]=https://x.example/1'],
    [`/v1/orders/${orderId}/retry`, '-X'],
  ])('a live key spends by %s with --yes only', async (path, ...more) => {
    workspace.environment.ERRAND_API_KEY = liveKey;
    workspace.environment.ERRAND_LEGACY_TOKEN = 'client-token-0123456789';
    const { url, received } = await peer(json({ ...order, request_id: randomUUID() }, 201));
    workspace.environment.ERRAND_LEGACY_BASE_URL = url;
    const args = ['POST', path, ...more.filter((word) => word !== '-X')];
    const { code, stderr } = await api(url, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain('--yes');
    expect(received).toEqual([]);
    expect(await api(url, ...args, '--yes')).toMatchObject({ code: 0 });
    expect(received.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('paths of the legacy service go to its address, with its token', async () => {
    const [current, legacy] = [await peer(json({})), await peer(json({ status: 'completed' }))];
    workspace.environment.ERRAND_LEGACY_BASE_URL = legacy.url;
    workspace.environment.ERRAND_LEGACY_TOKEN = 'client-token-0123456789';
    await api(current.url, '/v1/products/p1?retailer=amazon');
    expect(current.received).toEqual([]);
    expect(legacy.received[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('client-token-0123456789:').toString('base64')}`,
    );
  });

  test('what is not JSON is passed byte for byte', async () => {
    const html = '<h1>a\u001b[2Jb</h1>';
    const { url } = await peer(text(html, 200, { 'content-type': 'text/html' }));
    expect(await api(url, '/page')).toMatchObject({ code: 0, stdout: html });
  });

  test('-i tells status and headers on stderr, secrets left out', async () => {
    const headers = { 'x-request-id': 'r1', 'set-cookie': 'session=s3cret', 'x-echo': `got ${testKey}` };
    const { url } = await peer(json({ a: 1 }, 200, headers));
    const { stdout, stderr } = await api(url, '/x', '-i');
    expect(JSON.parse(stdout)).toEqual({ a: 1 });
    expect(stderr).toContain('HTTP 200\n');
    expect(stderr).toContain('x-request-id: r1\n');
    expect(stderr).not.toContain('s3cret');
    expect(stderr).not.toContain(testKey);
  });

  test('--dry-run sends no write, whatever its path', async () => {
    const { url, received } = await peer(json({}));
    const { code, stdout } = await api(url, 'DELETE', '/anything/at/all', '--unknown-path', '--dry-run');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ method: 'DELETE', url: `${url}/anything/at/all` });
    const curl = await api(url, '/orders', '--input', 'order.json', '--curl');
    expect(curl.stdout).toContain('$ERRAND_API_KEY');
    expect(received).toEqual([]);
  });
});
