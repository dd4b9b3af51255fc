import { connect, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { controlPath, controlTokenHeader, type ServedRequest } from '../../../src/api/control.ts';
import { userAt } from '../../../src/sandbox/server/owner.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
const stopped = (): void =>
  onTestFinished(async () => {
    await service.stop();
    expect(service.bugs).toEqual([]);
  });

const html = { accept: 'text/html' };
const open = (path: string, headers: Record<string, string> = {}) =>
  service.send('GET', path, undefined, null, { ...html, ...headers });
const control = (headers: Record<string, string> = {}) =>
  service.send('GET', controlPath, undefined, null, headers);
const pathOf = (url: string): string => url.slice(service.baseUrl.length);

describe('where the system does not tell whose a request is', () => {
  const requests: ServedRequest[] = [];
  const start = async () => {
    requests.length = 0;
    service = await TestService.start({
      users: { own: undefined, at: () => undefined },
      onRequest: (request) => requests.push(request),
    });
    stopped();
  };

  test('the printed address opens the console in one browser, which has a cookie from there on', async () => {
    await start();
    expect((await open('/')).status).toBe(403);
    expect((await open('/?token=no')).status).toBe(403);
    const opened = await open(pathOf(service.consoleUrl));
    expect([opened.status, opened.text]).toEqual([303, '']);
    expect(opened.headers.get('location')).toBe('/');
    expect(opened.headers.get('referrer-policy')).toBe('no-referrer');
    const cookie = opened.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^errand_sandbox_\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/);
    const [pair = ''] = cookie.split(';');
    expect((await open('/', { cookie: `other=1; ${pair}` })).status).toBe(200);
    expect((await open('/console/keys', { cookie: pair })).status).toBe(200);
    expect((await open('/', { cookie: pair.replace(/=.*/, '=x') })).status).toBe(403);
    // It does not admit another browser, and redirects the same one.
    expect((await open(pathOf(service.consoleUrl))).status).toBe(403);
    expect((await open(pathOf(service.consoleUrl), { cookie: pair })).status).toBe(303);
    expect(JSON.stringify(requests)).not.toContain(service.consoleUrl.split('=')[1]);
  });

  test('a command line shows the token of the file, and nothing else controls the sandbox', async () => {
    await start();
    const refused = await control();
    expect([refused.status, refused.body.details.resource]).toEqual([403, 'sandbox_control']);
    expect((await control({ [controlTokenHeader]: 'no' })).status).toBe(403);
    expect((await control({ [controlTokenHeader]: service.consoleUrl.split('=')[1] ?? '' })).status).toBe(
      403,
    );
    expect((await control({ [controlTokenHeader]: service.token ?? '' })).body).toMatchObject({
      sandbox: 'errand',
    });
    const reset = await service.send('POST', `${controlPath}/reset`, {}, null);
    expect(reset.status).toBe(403);
    expect((await service.send('GET', '/orders')).status).toBe(200);
  });

  test('the service itself is open: keys, orders, the shop, tracking', async () => {
    await start();
    expect(await service.mint()).toMatch(/_test_/);
    const order = await service.order('test-success');
    expect(order.status).toBe(201);
    expect((await open('/shop')).status).toBe(200);
    expect((await open(`/track/${order.body.id}`)).status).toBe(200);
  });
});

test('where it does, another user has the service alone', async () => {
  service = await TestService.start({ users: { own: 1000, at: () => 1001 } });
  stopped();
  expect(service.consoleUrl).toBe(`${service.baseUrl}/`);
  expect(service.token).toBeUndefined();
  expect((await open('/')).text).toContain('this request comes from another user');
  expect((await open('/', { cookie: 'errand_sandbox=x' })).status).toBe(403);
  expect((await control()).body.message).toContain('this request comes from another user');
  expect((await service.order('test-success')).status).toBe(201);
});

test.runIf(process.platform === 'linux').each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '::'],
  ['::1', '::1'],
])('the system tells whose a connection to %s is, for a server on %s', async (to, on) => {
  const seen = await new Promise<number | undefined>((resolve, reject) => {
    const server = createServer((socket) => {
      resolve(userAt(socket));
      socket.destroy();
      server.close();
    });
    onTestFinished(() => void server.close());
    server.on('error', reject);
    server.listen(0, on, () => {
      const address = server.address();
      if (typeof address !== 'object' || address === null) return reject(new Error('no address'));
      connect(address.port, to).on('error', reject);
    });
  });
  expect(seen).toBe(process.geteuid?.());
});
