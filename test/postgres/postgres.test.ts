import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, program, useServer } from '../support/postgres.ts';
import { DatabaseProxy } from './proxy.ts';

/** Sends the statements one by one in a session. @returns whether all succeeded. */
const send = (url: string, ...statements: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const each = statements.flatMap((statement) => ['-c', statement]);
    execFile(program('psql'), ['-XAtq', '-v', 'ON_ERROR_STOP=1', ...each, url], (error) =>
      resolve(error === null),
    );
  });

describe.skipIf(!hasPostgres)('the PostgreSQL of the tests', () => {
  const server = useServer();

  async function withProxy() {
    const database = await server().newDatabase();
    const proxy = await DatabaseProxy.start(server().port);
    onTestFinished(() => proxy.close());
    const url = proxy.url(database.url);
    await database.run('CREATE TABLE errand.kept (n int); GRANT ALL ON errand.kept TO errand');
    return { proxy, url, kept: () => database.rows('SELECT n FROM errand.kept') };
  }

  test('each test has a database of its own, in whose schema the role may do what it wants, and nowhere else', async () => {
    const [one, other] = [await server().newDatabase(), await server().newDatabase()];
    expect(
      await send(one.url, 'CREATE TABLE errand.kept (n int)', 'INSERT INTO errand.kept VALUES (1)'),
    ).toBe(true);
    expect(await one.rows('SELECT n FROM errand.kept')).toEqual([{ n: 1 }]);
    expect(await send(other.url, 'SELECT n FROM errand.kept')).toBe(false);
    expect(await send(one.url, 'CREATE TABLE public.kept (n int)')).toBe(false);
    expect(await send(one.url, 'CREATE SCHEMA other')).toBe(false);
    const owned = await server().newDatabase('database');
    expect(await send(owned.url, 'CREATE SCHEMA errand')).toBe(true);
  });

  test('a role with another password is refused', async () => {
    const { url } = await server().newDatabase();
    expect(await send(url, 'SELECT 1')).toBe(true);
    expect(await send(url.replace(/:[^:@]*@/, ':wrong@'), 'SELECT 1')).toBe(false);
  });

  test('what was committed is there after a crash of the server, and its address is the same', async () => {
    const { url, rows } = await server().newDatabase();
    await send(url, 'CREATE TABLE errand.kept (n int)', 'INSERT INTO errand.kept VALUES (1)');
    await server().stop('immediate');
    expect(await send(url, 'SELECT 1')).toBe(false);
    await server().start();
    expect(await send(url, 'SELECT 1')).toBe(true);
    expect(await rows('SELECT n FROM errand.kept')).toEqual([{ n: 1 }]);
  });

  describe('behind a proxy', () => {
    const insert = ['BEGIN', 'INSERT INTO errand.kept VALUES (1)', 'COMMIT'];

    test('a COMMIT arrives, and its response does not', async () => {
      const { proxy, url, kept } = await withProxy();
      proxy.faultAt({ at: /^commit/i, arrives: true, end: 'cut' });
      expect(await send(url, ...insert)).toBe(false);
      await expect.poll(kept).toEqual([{ n: 1 }]);
      expect(await send(url, ...insert)).toBe(true);
    });

    test('a COMMIT does not arrive', async () => {
      const { proxy, url, kept } = await withProxy();
      const seen: string[] = [];
      proxy.faultAt({
        at: /^commit/i,
        arrives: false,
        end: 'cut',
        onMessage: () => void seen.push('commit'),
      });
      expect(await send(url, ...insert)).toBe(false);
      expect(await kept()).toEqual([]);
      expect(seen).toEqual(['commit']);
    });

    test('a connection is silent from a message on, until it is cut', async () => {
      const { proxy, url } = await withProxy();
      proxy.faultAt({ at: /^insert/i, arrives: false, end: 'silence' });
      let isOver = false;
      const sent = send(url, ...insert).finally(() => {
        isOver = true;
      });
      await expect.poll(() => proxy.statements.length).toBe(2);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(isOver).toBe(false);
      proxy.cut();
      expect(await sent).toBe(false);
    });

    test('a connection breaks after so many bytes', async () => {
      const { proxy, url, kept } = await withProxy();
      expect(await send(url, 'SELECT 1')).toBe(true);
      proxy.faultAfter(20, 'cut');
      expect(await send(url, ...insert)).toBe(false);
      expect(await send(url, ...insert)).toBe(true);
      expect(await kept()).toEqual([{ n: 1 }]);
    });

    test('connections are refused, and accepted again at the same address', async () => {
      const { proxy, url } = await withProxy();
      await proxy.refuse();
      const [error] = await once(connect(proxy.port, '127.0.0.1'), 'error');
      expect(error.code).toBe('ECONNREFUSED');
      await proxy.accept();
      expect(await send(url, 'SELECT 1')).toBe(true);
    });

    test('the round trips of statements are counted', async () => {
      const { proxy, url } = await withProxy();
      proxy.counts = true;
      await send(url, 'SELECT 1');
      const toConnect = proxy.roundTrips - 1;
      proxy.reset();
      await send(url, ...insert);
      expect(proxy.roundTrips - toConnect).toBe(3);
      expect(proxy.statements).toEqual(insert);
      expect(proxy.connections).toBe(1);
    });
  });
});
