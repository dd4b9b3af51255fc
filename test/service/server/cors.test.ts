import { describe, expect, test } from 'vitest';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const page = 'http://localhost:5173';
const send = (path: string, init: RequestInit & { headers: Record<string, string> }) =>
  fetch(service.baseUrl + path, init);
const preflight = (path: string, origin: string, method = 'POST') =>
  send(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    },
  });

describe('a web page of this machine', () => {
  test.each([page, 'https://127.0.0.1:8443', 'http://[::1]:3000', 'http://shop.localhost'])(
    '%s may call the API, and read what it responds',
    async (origin) => {
      const asked = await preflight('/orders', origin);
      expect(asked.status).toBe(204);
      expect(Object.fromEntries(asked.headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization,content-type',
        vary: 'origin',
      });
      for (const [path, key, status] of [
        ['/orders', service.key, 200],
        ['/orders', 'wrong', 401],
        ['/nowhere', service.key, 404],
        ['/healthz', '', 200],
      ] as const) {
        const read = await send(path, { headers: { origin, authorization: `Bearer ${key}` } });
        expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([status, origin]);
        expect(read.headers.get('access-control-expose-headers')).toBe('*');
      }
    },
  );

  test('reads a refusal that comes before the service, too', async () => {
    const response = await send('/orders', {
      method: 'POST',
      headers: { origin: page, 'content-type': 'application/json' },
      body: 'x'.repeat(1024 * 1024 + 1),
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([413, page]);
  });

  test.each([
    ['the console', '/', 'GET', 'text/html'],
    ['the shop', '/shop', 'GET', 'text/html'],
    ['a page that shares its path with the API', '/track/x', 'GET', 'text/html'],
    ['a form of the console', '/console/deliveries/1/replay', 'POST', '*/*'],
    ['what makes events happen', '/sandbox/trigger', 'POST', '*/*'],
  ])('has no access to %s', async (_, path, method, accept) => {
    const asked = await preflight(path, page, method);
    const response = await send(path, { method, headers: { origin: page, accept } });
    if (accept === '*/*') expect(asked.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});

test.each([
  'https://shop.example',
  'null',
  'http://127.0.0.1.evil.example',
  'http://localhost.evil.example:80',
  'file://localhost',
  'http://localhost:5173/path',
  'http://user@localhost:5173',
])('a page of %s has no access', async (origin) => {
  const asked = await preflight('/orders', origin);
  const read = await send('/orders', { headers: { origin, authorization: `Bearer ${service.key}` } });
  for (const { headers } of [asked, read]) expect(headers.get('access-control-allow-origin')).toBeNull();
  expect([asked.status, read.status, read.headers.get('vary')]).toEqual([405, 200, 'origin']);
});
