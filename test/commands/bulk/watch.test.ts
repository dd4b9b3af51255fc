import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Begun } from '../../support/begun.ts';
import { json, peer } from '../../support/peer.ts';
import { begin, embeddedShop, errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const [one, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_0123456789abcdef' });
});
afterEach(() => workspace.remove());

const row = (status: string, order: string | null, index = 0) => ({
  index,
  status,
  order_id: null,
  order_status: order,
  error: null,
  recipient: null,
  product_urls: [],
  passthrough: {},
});

const batch = (id: string, status: string, rows: readonly unknown[], count = rows.length) => ({
  id,
  status,
  filename: 'orders.csv',
  row_count: count,
  placed_count: 0,
  failed_count: 0,
  rows,
});

const watch = (url: string, ids: readonly string[], timeout = '2s') =>
  errand(workspace, ['bulk', 'watch', ...ids, '--base-url', url, '--timeout', timeout]);

test('a batch that was never heard of before --timeout passed is not done: exit 8', async () => {
  const { code, stderr } = await watch('http://127.0.0.1:1', [one]);
  expect(code).toBe(8);
  expect(stderr).toContain('--timeout passed');
  const results = await errand(workspace, [
    'bulk',
    'results',
    one,
    '--wait',
    '--base-url',
    'http://127.0.0.1:1',
    '--timeout',
    '2s',
  ]);
  expect(results).toMatchObject({ code: 8, stdout: '' });
});

test('a batch whose rows are not there yet is waited for', async () => {
  const { url } = await peer(
    json(batch(one, 'pending', [], 1)),
    json(batch(one, 'completed', [row('placed', 'order_placed')])),
  );
  const { code, stderr } = await watch(url, [one], '10m');
  expect(code).toBe(0);
  expect(stderr).toContain('1 order: 1 placed');
});

test('a batch that failed as a whole is not waited for', async () => {
  const { url } = await peer(json(batch(one, 'failed', [row('pending', null)])));
  const { code, stderr } = await watch(url, [one], '10m');
  expect(code).toBe(7);
  expect(stderr).toContain('1 refused: 1 without a reason');
});

test('of several batches only those with failed rows are named for a retry, a command each', async () => {
  const { url } = await peer((response, request, socket) => {
    const [id, status, order] = request.target.endsWith(one)
      ? [one, 'placed', 'order_placed']
      : [other, 'failed', null];
    json(batch(id, 'completed', [row(status, order)]))(response, request, socket);
  });
  const { code, stderr } = await watch(url, [one, other], '10m');
  expect(code).toBe(7);
  expect(stderr).toContain(`errand bulk retry ${other} --file FILE`);
  expect(stderr).not.toContain(`errand bulk retry ${one}`);
});

/** Runs a command and interrupts it once `isDue` accepts its stdout. */
async function interrupted(
  args: readonly string[],
  isDue: (stdout: string) => boolean,
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = begin(workspace, 'errand', args);
  const said = { stdout: '', stderr: '' };
  child.stderr.on('data', (data) => {
    said.stderr += data;
  });
  child.stdout.on('data', (data) => {
    said.stdout += data;
  });
  const timer = setInterval(() => {
    if (isDue(said.stdout) && !child.killed) child.kill('SIGINT');
  }, 20);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  return { code, ...said };
}

test('bulk watch -o ndjson that is interrupted ends with a summary', async () => {
  const { url } = await peer(json(batch(one, 'processing', [row('pending', null)])));
  const args = ['bulk', 'watch', one, '--base-url', url, '-o', 'ndjson'];
  const { code, stdout } = await interrupted(args, (text) => /"row".*\n/.test(text));
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ type }) => type)).toEqual(['ready', 'row', 'summary']);
  expect(records.at(-1)).toMatchObject({ rows: 1, waiting: 1, open: 1 });
  expect(code).toBe(130);
});

test('bulk watch that is interrupted says what failed and what goes on', async () => {
  const rows = [
    ...[row('placed', 'order_placed'), row('placed', 'order_placed', 1)],
    ...[row('failed', null, 2), row('placed', 'order_failed', 3)],
    ...[row('pending', null, 4), row('placed', 'in_progress', 5)],
  ];
  const { url, received } = await peer((response, request, socket) =>
    json(
      request.target.endsWith(one)
        ? batch(one, 'processing', rows)
        : batch(other, 'completed', [row('placed', 'order_placed')]),
    )(response, request, socket),
  );
  const args = ['bulk', 'watch', one, other, '--base-url', url, '--timeout', '10m'];
  const { code, stderr } = await interrupted(args, () => received.length > 2);
  expect(stderr).toBe(
    [
      'stopped watching; 5 of 7 rows had ended, ✖ 2 of them failed, the others go on',
      `to go on watching: errand bulk watch ${one} --timeout 10m --base-url ${url}`,
      '',
    ].join('\n'),
  );
  expect(code).toBe(130);
});

test('bulk watch names the command that goes on once --timeout has passed', async () => {
  const { url, received } = await peer(json(batch(one, 'processing', [row('pending', null)])));
  const begun = new Begun(workspace, ['bulk', 'watch', one, '--base-url', url, '--timeout', '30m']);
  await expect.poll(() => received.length).toBeGreaterThan(1);
  begun.passDeadline();
  const { code, stderr } = await begun.ended();
  expect(code).toBe(8);
  expect(stderr).toContain(
    `--timeout passed; one batch goes on\nto go on watching: errand bulk watch ${one} --timeout 30m --base-url ${url}\n`,
  );
});

test('bulk results --wait that is interrupted says so, and no word of a deadline', async () => {
  const { url, received } = await peer(json(batch(one, 'processing', [row('pending', null)])));
  const args = ['bulk', 'results', one, '--wait', '--base-url', url];
  const { code, stderr } = await interrupted(args, () => received.length > 1);
  expect(stderr).toBe('interrupted\n');
  expect(code).toBe(130);
});

test('bulk watch ends where nothing readable ever came', async () => {
  const { url } = await peer((response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>a page</html>');
  });
  const { code, stderr } = await watch(url, [one], '10m');
  expect(code).toBe(9);
  expect(stderr).not.toContain('still trying');
});

test('a command to run next names the service that the flags named', async () => {
  const { url } = await peer(json(batch(one, 'completed', [row('failed', null)])));
  const { stderr } = await watch(url, [one], '10m');
  expect(stderr).toContain(`errand bulk retry ${one} --file FILE --base-url ${url}\n`);
});

test('embedded, the last of ten batches comes to its end while it is watched', async () => {
  delete workspace.environment.ERRAND_API_KEY;
  const url = `${await embeddedShop()}test-success`;
  await errand(workspace, ['order', 'list']);
  await errand(workspace, ['sandbox', 'trigger', 'wallet-funded', '--amount', '$1,000,000']);
  const headings = 'product_url,max_price_cents,name,address,city,state,zip,phone';
  const rows = Array.from(
    { length: 1000 },
    (_, n) => `${url},5000,A B,${n} Main St,Austin,TX,78701,5125550100`,
  );
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  const upload = ['bulk', 'upload', 'orders.csv', '--batch-size', '100', '-o', 'id'];
  const batches = (await errand(workspace, upload)).stdout.trim().split('\n');
  expect(batches).toHaveLength(10);
  const watch = [
    'bulk',
    'watch',
    batches.at(-1) ?? '',
    '--timeout',
    '40s',
    '-o',
    'json',
    '--query',
    '[0].placed_count',
  ];
  const { code, stdout } = await errand(workspace, watch);
  expect([code, stdout.trim()]).toEqual([0, '100']);
});

test('an order whose status is not known is not called placed', async () => {
  const { url } = await peer(
    json(batch(one, 'processing', [row('placed', null), row('placed', null, 1)])),
    json(batch(one, 'completed', [row('placed', null), row('placed', null, 1)])),
  );
  const { code, stderr } = await watch(url, [one], '10m');
  expect(code).toBe(0);
  expect(stderr).toContain('2 orders: 2 of unknown status');
  expect(stderr).toContain(`the order of each row: errand bulk report ${one}`);
});
