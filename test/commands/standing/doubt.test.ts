import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { embeddedShop, errand } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import type { Workspace } from '../../support/workspace.ts';
import { add, addAt, advance, dayFrom, ordersIn, place, type Row, rowsOf, run } from './steps.ts';

const edit = async (workspace: Workspace, ...words: string[]): Promise<Row> => {
  const edited = await errand(workspace, ['standing', 'edit', 'coffee', ...words, '-o', 'json']);
  expect(edited.code, edited.stderr).toBe(0);
  return JSON.parse(edited.stdout);
};

/** Runs against a service that answers no order. */
async function lose(workspace: Workspace, fault = 'reset-before'): Promise<void> {
  await errand(workspace, ['sandbox', 'fault', `${fault}@POST /orders`]);
  const lost = await run(workspace, '--retries', '0');
  expect([lost.code, rowsOf(lost)], lost.stderr).toMatchObject([10, [{ outcome: 'unknown' }]]);
  await errand(workspace, ['sandbox', 'fault', '--off']);
}

/** A service that lists no orders as long as `isLate`. @param keys are a live key, and the one that it stands for. */
async function lateLists(
  url: string,
  keys?: readonly [string, string],
): Promise<{ readonly url: string; isLate: boolean }> {
  const service = { url: '', isLate: true };
  const server = createServer(async (request, response) => {
    const isList = request.method === 'GET' && /^\/orders(\?|$)/.test(request.url ?? '');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _, connection: _c, 'content-length': _l, ...headers } = request.headers;
    try {
      const answer = await fetch(`${url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(headers).map(([name, value]) => [
          name,
          keys ? String(value).replace(...keys) : String(value),
        ]),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const text = await answer.text();
      const date = answer.headers.get('date') ?? '';
      response.writeHead(answer.status, { 'content-type': 'application/json', date });
      response.end(isList && service.isLate ? '{"orders":[],"total":0}' : text);
    } catch {
      response.destroy();
    }
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  service.url = `http://127.0.0.1:${Object(server.address()).port}`;
  return service;
}

describe('a date close to one in doubt', () => {
  test('waits until that is settled', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    await advance(workspace, '1d');
    await lose(workspace);
    const edited = await edit(workspace, '--starts', dayFrom(1));
    expect(edited.next_dates).not.toContainEqual(expect.objectContaining({ date: dayFrom(1) }));
    const shown = await errand(workspace, ['standing', 'show', 'coffee', '-o', 'json']);
    expect(JSON.parse(shown.stdout).changes).toContainEqual(
      `${dayFrom(0)} is in doubt, and a run settles it; ${dayFrom(1)} waits for that`,
    );
    const early = await run(workspace);
    expect([early.code, rowsOf(early)]).toMatchObject([
      10,
      [
        { outcome: 'unknown', date: dayFrom(0) },
        { outcome: 'waiting', date: dayFrom(1), exit_code: 10 },
      ],
    ]);
    expect(early.stderr).not.toContain('journal resume');
    expect(await ordersIn(workspace)).toBe(0);
    await advance(workspace, '6m');
    expect(rowsOf(await run(workspace))).toMatchObject([
      { outcome: 'skipped', date: dayFrom(0) },
      { outcome: 'placed', date: dayFrom(1) },
    ]);
    expect(await ordersIn(workspace)).toBe(1);
  });

  test('is not bought beside one that the journal has and lists do not show yet', async () => {
    const host = place();
    const { url } = await serveAt(host);
    const minted = await errand(host, ['sandbox', 'mint', '--base-url', url, '-o', 'json']);
    const service = await lateLists(url);
    const workspace = place({
      ERRAND_BASE_URL: service.url,
      ERRAND_API_KEY: JSON.parse(minted.stdout).api_key,
    });
    await addAt(workspace, url);
    await errand(host, ['sandbox', 'advance', '1d', '--base-url', url]);
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(0) }]);
    await edit(workspace, '--starts', dayFrom(1));
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'covered', date: dayFrom(1) }]);
    service.isLate = false;
    expect(await ordersIn(workspace)).toBe(1);
  });
});

test('a run of one entry settles what was sent for another that is gone', async () => {
  const workspace = place();
  await add(workspace, 'test-success', '--starts', dayFrom(0));
  await lose(workspace, 'truncate');
  const url = `${await embeddedShop()}test-success`;
  const tea = ['standing', 'add', 'tea', '--product', url, '--max-price', '$50', '--ship-to', 'home'];
  expect((await errand(workspace, [...tea, '--every', '1w'])).code).toBe(0);
  const listed = await errand(workspace, ['standing', 'list', '-o', 'json']);
  expect(listed.stderr).toContain(`what came of the order of coffee for ${dayFrom(0)} is not known`);
  const removed = await errand(workspace, ['standing', 'remove', 'coffee']);
  expect(removed.stderr).toContain('errand standing run settles that');
  expect(rowsOf(await run(workspace, 'tea'))).toMatchObject([{ outcome: 'existed', date: dayFrom(0) }]);
});

test('a date in doubt whose order failed is told so', async () => {
  const workspace = place();
  await add(workspace, 'test-out-of-stock', '--starts', dayFrom(0));
  await lose(workspace, 'truncate');
  await advance(workspace, '1h');
  await edit(workspace, '--starts', dayFrom(3));
  const settled = await run(workspace);
  expect([settled.code, rowsOf(settled)]).toMatchObject([7, [{ outcome: 'failed', date: dayFrom(0) }]]);
  expect(settled.stderr).toContain('it ended');
});

test.each([
  ['truncate', [['existed', 0]]],
  ['reset-before', [['unknown', 10]]],
] as const)(
  'what was sent with a live key is settled, and not sent again, once nobody agrees to real money: %s',
  async (fault, settled) => {
    const host = place();
    const { url } = await serveAt(host);
    const minted = await errand(host, ['sandbox', 'mint', '--base-url', url, '-o', 'json']);
    const key = 'xx_live_0123456789abcdef0123';
    const service = await lateLists(url, [key, JSON.parse(minted.stdout).api_key]);
    service.isLate = false;
    const workspace = place({ ERRAND_BASE_URL: service.url, ERRAND_API_KEY: key });
    const config = join(workspace.folder, '.config');
    mkdirSync(config, { recursive: true, mode: 0o700 });
    const policy = join(config, 'policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits: { per_day: $200 }\n', { mode: 0o600 });
    await addAt(workspace, url);
    await errand(host, ['sandbox', 'fault', `${fault}@POST /orders`, '--base-url', url]);
    const lost = await run(workspace, '--retries', '0');
    expect([lost.code, rowsOf(lost)], lost.stderr).toMatchObject([10, [{ outcome: 'unknown' }]]);
    await errand(host, ['sandbox', 'fault', '--off', '--base-url', url]);
    rmSync(policy);
    const outcomes = async () => rowsOf(await run(workspace)).map((row) => [row.outcome, row.exit_code]);
    expect(await outcomes()).toEqual(settled);
    await errand(host, ['sandbox', 'advance', '6m', '--base-url', url]);
    const isMade = fault === 'truncate';
    // The date itself is not bought without an agreement.
    expect(await outcomes()).toEqual(isMade ? [] : [['refused', 11]]);
    expect(await ordersIn(workspace)).toBe(isMade ? 1 : 0);
    writeFileSync(policy, 'version: 1\nlimits: { per_day: $200 }\n', { mode: 0o600 });
    expect(await outcomes()).toEqual(isMade ? [] : [['placed', 0]]);
    expect(await ordersIn(workspace)).toBe(1);
  },
);

test('a request that was sent with the key of another account is not given up, nor made again', async () => {
  const host = place();
  const { url } = await serveAt(host);
  const mint = async (): Promise<string> =>
    JSON.parse((await errand(host, ['sandbox', 'mint', '--base-url', url, '-o', 'json'])).stdout).api_key;
  const workspace = place({ ERRAND_BASE_URL: url, ERRAND_API_KEY: await mint() });
  await addAt(workspace, url);
  await errand(host, ['sandbox', 'fault', 'truncate@POST /orders', '--base-url', url]);
  expect((await run(workspace, '--retries', '0')).code).toBe(10);
  await errand(host, ['sandbox', 'fault', '--off', '--base-url', url]);
  const key = await mint();
  const other = { ...workspace, environment: { ...workspace.environment, ERRAND_API_KEY: key } };
  for (const time of ['0m', '6m']) {
    if (time !== '0m') await errand(host, ['sandbox', 'advance', time, '--base-url', url]);
    const refused = await run(other);
    expect([refused.code, rowsOf(refused)]).toMatchObject([10, [{ outcome: 'unknown' }]]);
    expect(refused.stderr).toContain('was sent with another key');
  }
  expect(await ordersIn(other)).toBe(0);
  expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'existed' }]);
});
