import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script, style } from '../../../src/sandbox/console/assets.ts';
import { begin, errand } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

/** Serves a sandbox until the test ends. @returns its base URL. */
const served = async (...args: string[]): Promise<string> =>
  (await serveAt(workspace, '--memory', ...args)).url;

async function send(url: string, key?: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
  });
  return { status: response.status, body: await response.json() };
}

const row = (product_url: string) => ({
  product_url,
  max_price: '2500',
  name: 'Ada Example',
  address1: '1 Main Street',
  city: 'Austin',
  state: 'TX',
  zip: '78701',
  phone: '5125550100',
});

test('sandbox serve --balance: each new key has that much, enough for a batch of 5,000 rows', async () => {
  const base = await served('--balance', '$200,000');
  const minted = (await send(`${base}/sandbox/keys`, undefined, {})).body as { api_key: string };
  const wallet = await send(`${base}/wallet/me`, minted.api_key);
  expect(wallet.body).toMatchObject({ balance: 20_000_000, spendable_balance: 20_000_000 });
  const rows = Array.from({ length: 5000 }, () => row(`${base}/shop/test-success`));
  const batch = await send(`${base}/orders/bulk`, minted.api_key, { rows });
  expect(batch).toMatchObject({ status: 201, body: { row_count: 5000, failed_count: 0 } });
});

test.each([
  [['--memory'], 'stopped serving; nothing is kept (--memory)'],
  [[], "stopped serving; its orders and keys are kept in errand's state folder"],
  [['--data', 'mine.db'], 'stopped serving; its orders and keys are kept in mine.db'],
  [['-o', 'json'], undefined],
])('sandbox serve %j that is interrupted says what is kept', async (flags, said) => {
  const child = begin(workspace, 'errand', ['sandbox', 'serve', '--port', '0', ...flags]);
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  child.stdout.once('data', () => child.kill('SIGINT'));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(stderr).toBe(said === undefined ? '' : `Ctrl-C ends it\n${said}\n`);
});

test.each([
  ['SIGINT', ['--memory'], (): string | null => null],
  ['SIGTERM', ['--data', 'mine.db'], () => join(workspace.folder, 'mine.db')],
] as const)('sandbox serve -o ndjson ends on %s with a summary', async (signal, flags, keptIn) => {
  const child = begin(workspace, 'errand', ['sandbox', 'serve', '--port', '0', '-o', 'ndjson', ...flags]);
  let stdout = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  const [first] = await once(child.stdout, 'data');
  const { base_url: base } = JSON.parse(String(first));
  await send(`${base}/sandbox/keys`, undefined, {});
  await send(`${base}/nothing-here`);
  child.kill(signal);
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records).toMatchObject([
    { type: 'ready', base_url: base },
    { type: 'summary', requests: 2, errors: 1, kept_in: keptIn(), elapsed_ms: expect.any(Number) },
  ]);
});

test('sandbox serve --balance: what no wallet can hold is refused', async () => {
  const { code, stderr } = await errand(workspace, [
    'sandbox',
    'serve',
    '--port',
    '0',
    '--balance',
    '$99999999999',
  ]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--balance')]);
});

test('the pages carry the script and the style of the sources in themselves', async () => {
  const page = await fetch(`${await served()}/`, { headers: { accept: 'text/html' } });
  const text = await page.text();
  expect(text).toContain(`<style>${style}</style>`);
  expect(text).toContain(`<script type="module">${script}</script>`);
});
