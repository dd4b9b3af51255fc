import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Finished } from '../../support/run.ts';
import { errorOf, type Shopping, shopping } from '../../support/shopping.ts';

/** The path a servlet container, its framework and a decoding proxy derive from a request target. */
function servletPath(target: string): string {
  const decoded = (text: string): string =>
    text
      .replace(/%(?:c0%ae)/gi, '.')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const [path = ''] = decoded(decoded(target.split('?', 1)[0] ?? ''))
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .split(/[?#\0\r\n]/, 1);
  const { pathname } = new URL(`http://gateway${path.replace(/\/{2,}/g, '/')}`);
  return pathname
    .toLowerCase()
    .replace(/%(?:09|20)|[.\s]+(?=\/|$)/g, '')
    .replace(/\.(?:json|xml|do|action)$/, '')
    .replace(/(?<=.)\/+$/, '');
}

/** Puts such a gateway in front of the service. */
async function behindGateway(shop: Shopping): Promise<void> {
  const server = createServer(async (request, response) => {
    const { headers, method = '' } = request;
    const path = String(headers['x-original-url'] ?? servletPath(request.url ?? ''));
    const answer = await shop.service.send(
      String(headers['x-http-method-override'] ?? method),
      path,
      method === 'GET' ? undefined : await bodyOf(request),
      String(headers.authorization).replace('Bearer ', ''),
    );
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  shop.workspace.environment.ERRAND_BASE_URL = `http://127.0.0.1:${port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

const spellings = [
  ...['/x/..%2forders', '/x/..;/orders', '/orders.json', '/orders%00', '/orders%00x', '/x%2f..%2forders'],
  ...[
    '/x/%2e%2e%2forders',
    '/x/.%2e%2Forders',
    '/x%2f%2e%2e%2forders',
    '/.;/orders',
    '/;/orders',
    '/;a/orders',
  ],
  ...['/orders;', '/orders;a=b', '/orders;.json', '/orders%3b', '/orders%3Ba=b', '/orders/;x', '/orders/.;'],
  ...['/orders%2f', '/orders%252f', '/orders/%2e', '/orders/x/..%2f', '/orders/x%2f..', '/x/..%252forders'],
  ...['/x/%252e%252e/orders', '/x/%c0%ae%c0%ae/orders', '/%5corders', '/x%5c..%5corders', '/x/..%5corders'],
  ...['/orders.', '/orders..', '/orders%20', '/orders%09', '/orders%2e', '/orders.xml', '/orders.do'],
  ...[
    '/orders%3fx',
    '/orders%3Fx=y',
    '/orders%23',
    '/orders%23x',
    '/orders%0a',
    '/orders%0d%0a',
    '/orders#x',
  ],
  ...['/Orders', '/ORDERS', '/orders/', '/Orders/', '/%6frders', '/%6Frders/', '/%256frders', 'Orders'],
  ...[
    '//orders',
    '/./orders',
    '/x/../orders',
    '/x//orders/../../orders',
    'orders;a',
    '/orders/?x',
    '/%2forders',
  ],
  ...['/orders/..%2forders/cancel/..', '/orders/x%2f..%3b%2f..%2forders%00/cancel', '/users/..%2forders'],
  ...['/orders/..%2f..%2forders%3f/cancel', '/orders/..;/cancel', '/orders/bulk/..%2f', '/orders/bulk.json'],
  ...['/agent%2forders', '/orders.json/bulk', '/returns.json', '/v1/orders/x%2fretry', '/v1/orders/x/retry/'],
];

/** Sends every spelling. @returns each path and the exit code of its request. */
const sendAll = async (shop: Shopping, ...more: string[]): Promise<[string, number | null][]> => {
  const sent: [string, number | null][] = [];
  for (const path of [...spellings, '{url}/x/..%2forders', '{url}/orders;a', '{url}/ORDERS']) {
    const word = path.replace('{url}', shop.workspace.environment.ERRAND_BASE_URL ?? '');
    const { code } = await shop.run('api', 'pOsT', word, '--input', 'order.json', ...more);
    sent.push([path, code]);
  }
  return sent;
};

function limit(shop: Shopping): void {
  const folder = join(shop.workspace.folder, '.config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'policy.yaml'), 'version: 1\nlimits:\n  per_order: $1\n', { mode: 0o600 });
}

const send = (shop: Shopping, ...args: string[]): Promise<Finished> => shop.run('api', ...args, '-o', 'json');

describe('behind a gateway that decodes paths', () => {
  test('no spelling of a path orders past the policy', async () => {
    const shop = await shopping();
    await behindGateway(shop);
    limit(shop);
    const sent = await sendAll(shop);
    expect(await shop.orders()).toEqual([]);
    expect(sent.filter(([, code]) => code !== 11 && code !== 2)).toEqual([]);
  });

  test('nor past the journal, with --unknown-path', async () => {
    const shop = await shopping();
    await behindGateway(shop);
    expect((await sendAll(shop, '--unknown-path')).filter(([, code]) => code !== 2)).toEqual([]);
    expect(await shop.orders()).toEqual([]);
  });

  test('no header and no base URL makes another request of an operation', async () => {
    const shop = await shopping();
    await behindGateway(shop);
    limit(shop);
    const body = ['--input', 'order.json'];
    for (const header of [
      'X-Original-URL: /orders',
      'x-rewrite-url: /orders',
      'X-HTTP-Method-Override: POST',
      'X_HTTP_Method_Override: POST',
      'X_Original_URL: /orders',
      'X-Original-Path: /orders',
      'X-Forwarded-Path: /orders',
      'X-Forwarded-Prefix: /orders',
      'X-HTTP-Path-Override: /orders',
      'X-Envoy-Original-Path: /orders',
      'X-Request-Uri: /orders',
      'Transfer_Encoding: chunked',
    ]) {
      const refused = await send(shop, 'POST', '/users', ...body, '-H', header);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('cannot be set')]);
    }
    const base = shop.workspace.environment.ERRAND_BASE_URL;
    for (const path of ['/orders%3f', '/orders%23', '/orders;', '/x/..%2forders%00'])
      expect(await send(shop, 'POST', '/users', ...body, '--base-url', `${base}${path}`)).toMatchObject({
        code: 2,
      });
    expect(await shop.orders()).toEqual([]);
  });
});

describe('a write to a path that is no operation of the service', () => {
  test('is not sent where a policy is set', async () => {
    const shop = await shopping();
    limit(shop);
    for (const more of [[], ['--unknown-path']]) {
      const refused = await send(shop, 'POST', '/new-endpoint', '-f', 'a=b', ...more);
      expect(refused.code, refused.stderr).toBe(11);
      expect(errorOf(refused)).toMatchObject({ code: 'unknown_path', outcome: 'not_sent' });
    }
  });

  test('takes --unknown-path elsewhere, whatever its method', async () => {
    const shop = await shopping();
    for (const request of [
      'POST /new-endpoint',
      'PUT /orders',
      'DELETE /orders',
      'PATCH /users',
      'PROPFIND /x',
    ]) {
      const refused = await send(shop, ...request.split(' '));
      expect([refused.code, errorOf(refused).message]).toEqual([
        2,
        expect.stringContaining(`${request} is no operation of the service`),
      ]);
      expect((await send(shop, ...request.split(' '), '--unknown-path')).code).not.toBe(0);
    }
    expect(
      (
        await send(
          shop,
          'POST',
          '/sandbox/trigger',
          '-f',
          'event=wallet-funded',
          '-F',
          'amount=100',
          '--unknown-path',
        )
      ).code,
    ).toBe(0);
  });

  test('the operations need no option, and any path is read', async () => {
    const shop = await shopping();
    limit(shop);
    expect(await send(shop, 'POST', '/users', '-f', 'webhook_url=http://127.0.0.1:9/x')).toMatchObject({
      code: 0,
    });
    expect(await send(shop, 'POST', '/orders/x/cancel')).not.toMatchObject({ code: 11 });
    expect(await send(shop, 'GET', '/orders/')).toMatchObject({ code: 0 });
    expect(await send(shop, '/new-endpoint')).toMatchObject({ code: 4 });
  });
});
