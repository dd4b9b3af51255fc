import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pageRows } from '../../../src/sandbox/console/routes.ts';
import { sections } from '../../../src/sandbox/console/sections.ts';
import { type OpenSandbox, openSandbox } from '../../../src/sandbox/open.ts';
import type { SandboxRequest } from '../../../src/sandbox/server/wire.ts';
import { submit } from '../../support/read-page.ts';
import { TestService } from '../../support/service.ts';

const baseUrl = 'http://192.168.1.5:4848';
let opened: OpenSandbox;
beforeEach(async () => {
  opened = await openSandbox({ file: ':memory:', baseUrl, now: Date.now, report: () => {} });
});
afterEach(() => opened.close());

const ask = (target: string, more: Partial<SandboxRequest> = {}) =>
  opened.handle({
    method: 'GET',
    target,
    headers: { host: '127.0.0.1:4848' },
    body: new Uint8Array(),
    remoteAddress: '127.0.0.1',
    ...more,
  });
const placed = (path: string): string => path.replace(/\{\w+\}/g, 'x');
/** All pages of the console, and all lists as CSV. None streams events: a live page asks again. */
const consolePages = pageRows.flatMap((row) =>
  'GET' in row && (row.path === '/' || row.path.startsWith('/console')) ? [placed(row.path)] : [],
);
const lists = Object.values(sections).flatMap(({ path }) =>
  /time|faults/.test(path) ? [] : [`${path}?as=csv`],
);

/** All forms of the console. */
const consoleForms = pageRows.flatMap((row) =>
  'POST' in row && row.path.startsWith('/console') ? [placed(row.path)] : [],
);

describe('every form of the console', () => {
  const post = (path: string, more: Partial<SandboxRequest> & { headers: SandboxRequest['headers'] }) =>
    ask(path, { method: 'POST', ...more });

  test('there are some', () => {
    expect(consoleForms).toContain('/console/wallets/x/fund');
  });

  test.each(consoleForms)('%s takes nothing from another site, machine, proxy or name', async (path) => {
    const host = '127.0.0.1:4848';
    const own = { host, origin: `http://${host}` };
    for (const headers of [
      { host, origin: 'https://evil.example' },
      { host, origin: 'null' },
      { host, origin: 'http://127.0.0.1:1' },
      { host, referer: 'https://evil.example/page' },
      { ...own, 'sec-fetch-site': 'cross-site' },
      { ...own, 'sec-fetch-site': 'same-site' },
      { ...own, 'x-forwarded-for': '10.0.0.3' },
    ])
      expect([headers, (await post(path, { headers })).status]).toEqual([headers, 403]);
    expect((await post(path, { headers: own, remoteAddress: '10.0.0.3' })).status).toBe(403);
    const named = { host: 'evil.example', origin: 'http://evil.example' };
    expect((await post(path, { headers: named })).status).toBe(421);
    const { status, headers } = await post(path, { headers: { ...own, 'sec-fetch-site': 'same-origin' } });
    expect([303, 400, 404, 409]).toContain(status);
    // A redirect has no page content to protect.
    if (status !== 303) expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });
});

describe('the console serves its own machine only', () => {
  test('there are all of them', () => {
    expect([consolePages.length, lists.length]).toEqual([25, 9]);
    expect(consolePages).toContain('/console/deliveries/x/edit');
  });

  test.each([...consolePages, ...lists])('%s', async (path) => {
    const host = '127.0.0.1:4848';
    const { status, headers } = await ask(path);
    expect([200, 400, 404]).toContain(status);
    expect(headers['content-type']).toMatch(path.endsWith('csv') ? /^text\/csv/ : /^text\/html/);
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    const refused = await ask(path, { remoteAddress: '192.168.1.77' });
    expect([refused.status, String(refused.body)]).toEqual([
      403,
      expect.stringContaining('comes from another machine'),
    ]);
    expect((await ask(path, { headers: { host: 'evil.example' } })).status).toBe(421);
    for (const more of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:1' },
      { origin: `http://${host}`, 'sec-fetch-site': 'cross-site' },
      { via: '1.1 proxy' },
    ])
      expect([more, (await ask(path, { headers: { host, ...more } })).status]).toEqual([more, 403]);
    // A link of another site may lead here: no script of that site reads what it opens.
    const linked = { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await ask(path, { headers: linked })).status).toBe(status);
  });

  test.each(pageRows.flatMap((row) => ('GET' in row ? [placed(row.path)] : [])))(
    '%s, open to all or not, is served under no name of another site',
    async (path) => {
      const headers = { host: 'evil.example', accept: 'text/html' };
      expect((await ask(path, { headers })).status).toBe(421);
    },
  );

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
    'a peer at %s is this machine',
    async (remoteAddress) => {
      expect((await ask('/', { remoteAddress })).status).toBe(200);
    },
  );

  test.each(['10.0.0.3', '::ffff:10.0.0.3', 'fe80::1', '2001:db8::1', ''])(
    'a peer at “%s” is not',
    async (remoteAddress) => {
      expect((await ask('/', { remoteAddress })).status).toBe(403);
    },
  );

  test.each(['localhost', 'localhost:4848', '[::1]:4848', '127.9.9.9:1', 'a.localhost', '192.168.1.5:4848'])(
    'the name %s is its own',
    async (host) => {
      expect((await ask('/', { headers: { host } })).status).toBe(200);
    },
  );

  test.each([
    'evil.example',
    'evil.example:4848',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.168.1.6:4848',
    'x@y:z',
    '',
  ])('a name that another site has made lead here, %s, is not', async (host) => {
    const refused = await ask('/', { headers: { host } });
    expect(refused.status).toBe(421);
    expect(String(refused.body)).toContain('does not serve');
  });

  test('a name that the sandbox was told is not its own', async () => {
    await opened.close();
    opened = await openSandbox({
      file: ':memory:',
      baseUrl,
      now: Date.now,
      report: () => {},
      config: { allowedHosts: ['api.test'] },
    });
    const headers = { host: 'api.test' };
    expect((await ask('/shop', { headers })).status).toBe(200);
    const refused = await ask('/', { headers });
    expect([refused.status, String(refused.body)]).toEqual([
      403,
      expect.stringContaining('Open it as localhost'),
    ]);
  });

  test.each([
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'x-real-ip',
    'via',
    'cf-connecting-ip',
    'true-client-ip',
  ])('through a proxy that sends %s', async (name) => {
    expect((await ask('/', { headers: { host: 'localhost', [name]: 'for=10.0.0.3' } })).status).toBe(403);
  });

  test('nothing is done for whoever it refuses', async () => {
    const refused = await ask(`/console/orders/${crypto.randomUUID()}/cancel`, {
      method: 'POST',
      remoteAddress: '10.0.0.3',
    });
    expect(refused.status).toBe(403);
  });

  test('a page of this machine that may call the service reads nothing of the console', async () => {
    const service = await TestService.start();
    try {
      const headers = { origin: 'http://localhost:3000', accept: 'text/html' };
      const get = (path: string) => service.send('GET', path, undefined, null, headers);
      expect((await get('/openapi.json')).headers.get('access-control-allow-origin')).toBe(headers.origin);
      for (const path of ['/', '/console/orders', '/console/orders?as=csv'])
        expect((await get(path)).status, path).toBe(403);
      expect((await get('/shop')).text).not.toContain('id="finder"');
    } finally {
      await service.stop();
    }
  });

  test('the service, the shop and public tracking serve other machines too', async () => {
    const remote = { remoteAddress: '10.0.0.3', headers: { host: '192.168.1.5:4848', accept: 'text/html' } };
    expect((await ask('/shop', remote)).status).toBe(200);
    expect((await ask('/openapi.json', remote)).status).toBe(200);
    expect((await ask('/wallet/me', remote)).status).toBe(401);
    expect((await ask(`/track/${crypto.randomUUID()}`, remote)).status).toBe(404);
    expect((await ask('/sandbox/keys', { ...remote, method: 'POST' })).status).toBe(201);
  });
});

test('no other site presses a button in a person’s name', async () => {
  const service = await TestService.start();
  try {
    const { id } = (await service.order('test-slow')).body;
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
      expect((await submit(service, `/console/orders/${id}/cancel`, {}, origin)).status).toBe(403);
    for (const headers of [
      { referer: 'https://evil.example/page' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: service.baseUrl },
    ]) {
      const response = await service.send('POST', `/console/orders/${id}/cancel`, '', null, headers);
      expect([response.status, headers]).toEqual([403, headers]);
    }
    expect((await submit(service, '/console/deliveries/x/replay', {}, 'https://evil.example')).status).toBe(
      403,
    );
    expect((await service.send('GET', `/orders/${id}`)).body.status).toBe('pending');
    const own = { referer: `${service.baseUrl}/console/orders/${id}`, 'sec-fetch-site': 'same-origin' };
    expect((await service.send('POST', `/console/orders/${id}/cancel`, '', null, own)).status).toBe(303);
  } finally {
    await service.stop();
  }
});
