import { createServer, request as httpRequest } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxyFor } from '../../../src/http/proxy.ts';
import { caller, failureOf, keyedOrder } from '../../support/caller.ts';
import { closedPort, json, peer } from '../../support/peer.ts';
import { selfSigned } from '../../support/self-signed.ts';

interface Proxy {
  readonly url: string;
  readonly requested: string[];
  readonly credentials: (string | undefined)[];
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A proxy that forwards every host to a single service. */
async function proxyTo(port: number, status = 200): Promise<Proxy> {
  const requested: string[] = [];
  const credentials: (string | undefined)[] = [];
  const server = createServer(({ method, url = '', headers }, response) => {
    requested.push(`${method} ${url}`);
    const { pathname, search } = new URL(url);
    httpRequest({ port, method, path: pathname + search, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(response);
    }).end();
  });
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    requested.push(`CONNECT ${url}`);
    credentials.push(headers['proxy-authorization']);
    socket.on('error', () => {});
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const tunnel = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      tunnel.pipe(socket).pipe(tunnel);
    });
    tunnel.on('error', () => socket.destroy());
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, requested, credentials };
}

describe('through a proxy', () => {
  test('plain http is forwarded, where the profile allows it at all', async () => {
    const service = await peer(json({ balance: 1 }));
    const proxy = await proxyTo(Number(new URL(service.url).port));
    const { client } = caller('http://service.test', {
      allowPlainHttp: true,
      network: { proxy: { http: proxy.url } },
    });
    expect((await client.call('wallet.get', {})).body).toEqual({ balance: 1 });
    expect(proxy.requested).toEqual(['GET http://service.test/wallet/me']);
    expect(service.received[0]?.headers.host).toBe('service.test');
  });

  test.each([
    ['me:s%20cret', 'me:s cret'],
    ['me', 'me:'],
  ])('https goes in a tunnel to the service, whose certificate is still checked (%s)', async (user, sent) => {
    const port = await listening(createTlsServer(selfSigned));
    const proxy = await proxyTo(port);
    const [scheme, rest] = proxy.url.split('//');
    const { client } = caller('https://service.test', {
      retries: 0,
      network: { proxy: { https: `${scheme}//${user}@${rest}` } },
    });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(proxy.requested).toEqual(['CONNECT service.test:443']);
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from(sent).toString('base64')}`]);
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 1 } });
    expect(error.message).toMatch(/through the proxy 127\.0\.0\.1:\d+: its certificate is self-signed/);
  });

  test.each([403, 407])(
    'that returns %i to CONNECT nothing was sent, and nothing is tried again',
    async (status) => {
      const proxy = await proxyTo(1, status);
      const { client } = caller('https://service.test', { network: { proxy: { https: proxy.url } } });
      const error = await failureOf(client.call('order.create', { body: keyedOrder }));
      expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 1 } });
      expect(error.message).toContain(`it returned ${status} to CONNECT`);
    },
  );

  test('that is not there nothing was sent', async () => {
    const { client } = caller('https://service.test', { network: { proxy: { https: await closedPort() } } });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 5 } });
    expect(error.message).toContain('the connection was refused');
  });

  test('that hangs up on CONNECT each try ends, and so do the tries', async () => {
    const port = await listening(
      createSocketServer((socket) => socket.on('error', () => {}).once('data', () => socket.destroy())),
    );
    const { client } = caller('https://service.test', {
      network: { proxy: { https: `http://127.0.0.1:${port}` } },
    });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 5 } });
  });

  test('that never responds to CONNECT is given up', async () => {
    const port = await listening(createSocketServer(() => {}));
    const { client } = caller('https://service.test', {
      timeoutMs: 80,
      network: { proxy: { https: `http://127.0.0.1:${port}` } },
    });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ name: 'DeadlineError', facts: { outcome: 'not_sent' } });
  });
});

describe('a proxy that is no address, or whose password holds a bare %', () => {
  test.each(['socks5://a:1', 'http://me:100%sure@a:1'])(
    'is told as wrong usage, at once (%s)',
    async (https) => {
      const { client } = caller('https://service.test', { timeoutMs: 60_000, network: { proxy: { https } } });
      const error = await failureOf(client.call('order.create', { body: keyedOrder }));
      expect(error).toMatchObject({ name: 'UsageError', category: 'usage' });
      expect(error.message).not.toContain('sure');
      await client.close();
    },
  );
});

describe('without a proxy', () => {
  test('a certificate that nobody vouches for is refused, nothing having been sent', async () => {
    const port = await listening(createTlsServer(selfSigned));
    const { client } = caller(`https://localhost:${port}`);
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 1 } });
    expect(error.message).toContain('its certificate is self-signed');
  });
});

describe('which proxy is used', () => {
  const proxies = { https: 'http://secure.test:3128', http: 'plain.test:3128' };
  const hostOf = (url: string, none?: string) => proxyFor(new URL(url), { ...proxies, none })?.host;

  test.each([
    ['https://a.example/', undefined, 'secure.test:3128'],
    ['http://a.example/', undefined, 'plain.test:3128'],
    ['http://127.0.0.1:4848/', undefined, undefined],
    ['http://[::1]:4848/', undefined, undefined],
    ['https://localhost/', undefined, undefined],
    ['https://a.example/', '*', undefined],
    ['https://a.example/', 'other.test, a.example', undefined],
    ['https://api.a.example/', 'a.example', undefined],
    ['https://api.a.example/', '.a.example', undefined],
    ['https://api.a.example/', '*.a.example', undefined],
    ['https://nota.example/', 'a.example', 'secure.test:3128'],
    ['https://a.example/', 'A.EXAMPLE', undefined],
    ['https://a.example/', 'a.example:443', undefined],
    ['https://a.example:8443/', 'a.example:443', 'secure.test:3128'],
    ['https://[2001:db8::1]/', '2001:db8::1', undefined],
  ])('for %s with NO_PROXY %s is %s', (url, none, expected) => {
    expect(hostOf(url, none)).toBe(expected);
  });

  test.each(['socks5://a:1', 'http://', '::'])('is refused where it is %s', (https) => {
    expect(() => proxyFor(new URL('https://a.example'), { https })).toThrow(/proxy for https/);
  });
});
