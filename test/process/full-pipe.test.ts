import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { untilIdle } from '../support/idle.ts';
import { json, peer } from '../support/peer.ts';
import { errand, shell } from '../support/run.ts';
import { type Shopping, shopping } from '../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { type Running, stdoutWaits, unreadPipe } from './unread.ts';

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const;

/** The pipe stays unread until then: a process that misses the signal never ends. */
const end = ({ child, ended }: Running, signal: NodeJS.Signals): Promise<unknown> => {
  child.kill(signal);
  return ended;
};

describe('while nobody reads', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' }, { oddService: true });
  });
  afterEach(() => workspace.remove());

  const orders = Array.from({ length: 5_000 }, (_, row) => ({ id: `row-${row}`, short_id: `${row}` }));
  const page = { orders, total: orders.length };

  /** Starts a list longer than a pipe holds; its response has arrived completely. */
  async function listing(streams: { stderr?: 'pipe' }): Promise<Running> {
    const service = await peer(json(page));
    workspace.environment.ERRAND_BASE_URL = service.url;
    const pipe = await unreadPipe(workspace);
    const running = pipe.begin(['order', 'list', '--limit', '500', '-o', 'json'], streams);
    await expect.poll(() => service.received.length).toBe(1);
    await untilIdle(running.child.pid);
    return running;
  }

  test.each(signals)('%s ends a command whose output has come whole', async (signal, code) => {
    const running = await listing({});
    expect(running.child.exitCode).toBeNull();
    expect(stdoutWaits(running)).toBe(true);
    expect(await end(running, signal), running.told()).toBe(code);
    expect(JSON.parse(running.told()).error).toMatchObject({ exit_code: code });
  });

  test('also where stderr is the same pipe', async () => {
    const running = await listing({ stderr: 'pipe' });
    expect(stdoutWaits(running)).toBe(true);
    expect(await end(running, 'SIGINT')).toBe(130);
  });

  test('a failure that nobody reads keeps its exit code', async () => {
    workspace.environment.ERRAND_BASE_URL = (await peer(json(page))).url;
    const pipe = await unreadPipe(workspace);
    pipe.fill();
    const running = pipe.begin(['order', 'get', 'no-id'], { stdout: 'test', stderr: 'pipe' });
    await untilIdle(running.child.pid);
    expect(running.child.exitCode).toBeNull();
    expect(await end(running, 'SIGINT')).toBe(2);
  });

  test('the help can be given up', async () => {
    const pipe = await unreadPipe(workspace);
    pipe.fill();
    const running = pipe.begin(['order', 'create', '--help']);
    await untilIdle(running.child.pid);
    // Once all output is handed over, the signal itself terminates the process.
    expect(['SIGTERM', 143]).toContain(await end(running, 'SIGTERM'));
  });

  test('text for stdout and stderr keeps its order in one pipe', async () => {
    workspace.environment.ERRAND_BASE_URL = (await peer(json(page))).url;
    const line = 'errand order list --limit 500 --fields id --debug';
    const [one, two] = [
      await shell(workspace, `${line} 2>/dev/null`),
      await shell(workspace, `(${line}) 2>&1 | (sleep 1; cat)`),
    ];
    expect(two.stdout.endsWith(one.stdout)).toBe(true);
    expect(two.stdout.length).toBeGreaterThan(one.stdout.length);
  });
});

test('a cancellation whose result nobody reads is not told as nothing', async () => {
  const shop = await shopping();
  const row = `${shop.service.product('test-slow')},$50.00,Ada Byron,1 Main St,Austin,TX,78701,5125550100`;
  const headings = 'product_url,max_price,name,address_line1,city,state,postal_code,phone_number';
  writeFileSync(join(shop.workspace.folder, 'orders.csv'), `${headings}\n${row}\n`);
  expect((await shop.run('bulk', 'upload', 'orders.csv')).code).toBe(0);
  shop.service.pass(15_000);
  const pipe = await unreadPipe(shop.workspace);
  pipe.fill();
  const running = pipe.begin(['bulk', 'cancel', 'orders', '-o', 'json'], {});
  const states = async () => (await shop.service.send('GET', '/orders')).body.orders.map(statusOf);
  await expect.poll(states).toEqual(['cancelled']);
  await untilIdle(running.child.pid);
  expect(await end(running, 'SIGINT'), running.told()).toBe(130);
  expect(JSON.parse(running.told()).error).toMatchObject({
    message: 'interrupted; what was done by then is not all printed',
    outcome: 'unknown',
  });
});

const statusOf = ({ status }: { status: string }): string => status;

describe('an order whose result nobody reads', () => {
  const create = ['order', 'create', '--file', 'order.json', '--retries', '0', '-o', 'json'];

  /** Places an order whose output blocks on a full pipe. */
  async function placed(shop: Shopping, streams: { stderr?: 'pipe' }): Promise<Running> {
    const pipe = await unreadPipe(shop.workspace);
    pipe.fill();
    const running = pipe.begin(create, streams);
    await expect.poll(async () => (await owed(shop))[0]?.order_id).toBeTruthy();
    await untilIdle(running.child.pid);
    return running;
  }

  /** Unreported orders in the journal. */
  const owed = async (shop: Shopping): Promise<{ order_id: string | null }[]> =>
    JSON.parse((await shop.run('order', 'journal', 'list', '-o', 'json')).stdout);

  test.each([
    ['SIGINT', 130, {}],
    ['SIGTERM', 143, {}],
    ['SIGINT', 130, { stderr: 'pipe' }],
  ] as const)('%s ends it, and the same command tells it (%i, %o)', async (signal, code, streams) => {
    const shop = await shopping();
    const running = await placed(shop, streams);
    expect(running.child.exitCode).toBeNull();
    expect(await end(running, signal), running.told()).toBe(code);
    const [order] = await shop.orders();
    if (!('stderr' in streams)) {
      expect(JSON.parse(running.told()).error).toMatchObject({
        outcome: 'applied',
        details: { made: [{ id: order?.id }] },
      });
    }
    expect(await owed(shop)).toMatchObject([{ order_id: order?.id }]);
    const again = await errand(shop.workspace, create);
    expect([again.code, JSON.parse(again.stdout).id], again.stderr).toEqual([0, order?.id]);
    expect(await owed(shop)).toEqual([]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('a reader that comes late gets it, and it is reported', async () => {
    const shop = await shopping();
    const pipe = await unreadPipe(shop.workspace);
    pipe.fill();
    const running = pipe.begin(create);
    await expect.poll(async () => (await owed(shop))[0]?.order_id).toBeTruthy();
    let text = '';
    const read = (): void => {
      text += pipe.read()?.toString().replaceAll('\0', '') ?? '';
    };
    const reading = setInterval(read, 5);
    expect(await running.ended, running.told()).toBe(0);
    clearInterval(reading);
    read();
    const [order] = await shop.orders();
    expect(JSON.parse(text).id).toBe(order?.id);
    expect(await owed(shop)).toEqual([]);
  });
});

describe('a slow reader', () => {
  const line = `${'order '.repeat(170)},2\n`;
  const piece = line.repeat(64);
  const pieces = 800;
  const mostOnTheirWay = 16 * 1024 * 1024;

  /** A service with a 50 MB export, sent as fast as the client reads. */
  async function exporting(): Promise<{ url: string; sent(): number }> {
    let sent = 0;
    const { url } = await peer((response) => {
      response.writeHead(200, { 'content-type': 'text/csv' });
      const source = Readable.from(
        (function* () {
          for (; sent < pieces; sent += 1) yield piece;
        })(),
        { highWaterMark: 1 },
      );
      source.pipe(response);
    });
    return { url, sent: () => sent * piece.length };
  }

  test.each([[[]], [['--raw-csv']]])(
    'gets all of 50 MB, of which no more than 16 MB are ever on their way (%o)',
    async (more) => {
      const service = await exporting();
      const workspace = makeWorkspace({
        ERRAND_API_KEY: 'xx_test_abcdefghijkl1234',
        ERRAND_BASE_URL: service.url,
      });
      onTestFinished(() => workspace.remove());
      const pipe = await unreadPipe(workspace);
      const running = pipe.begin(['order', 'export', ...more]);
      let hasEnded = false;
      void running.ended.then(() => {
        hasEnded = true;
      });
      const hash = createHash('sha256');
      let size = 0;
      const taken = [];
      while (!hasEnded) {
        const part = pipe.read();
        if (part) {
          hash.update(part);
          size += part.length;
        }
        // Pauses reading ten times, until everything has stalled.
        if (size >= taken.length * 4_000_000 && taken.length < 10)
          taken.push((await settled(service.sent)) - size);
        else if (!part) await sleep(1);
      }
      for (let part = pipe.read(); part?.length; part = pipe.read()) {
        hash.update(part);
        size += part.length;
      }
      expect(await running.ended, running.told()).toBe(0);
      const whole = createHash('sha256');
      for (let n = 0; n < pieces; n += 1) whole.update(piece);
      expect([size, hash.digest('hex')]).toEqual([pieces * piece.length, whole.digest('hex')]);
      expect(Math.max(...taken)).toBeLessThan(mostOnTheirWay);
    },
  );

  /** Returns a count once it has stopped changing. */
  async function settled(count: () => number): Promise<number> {
    for (let last = -1; last !== count(); await sleep(100)) last = count();
    return count();
  }
});
