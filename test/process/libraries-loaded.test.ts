import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { errand, orderOf, spawned } from '../support/run.ts';
import { serveAt } from '../support/served.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = makeWorkspace();
  await errand(workspace, [
    ...[
      'address',
      'add',
      'home',
      '--first-name',
      'Ada',
      '--last-name',
      'Byron',
      '--address-line1',
      '1 Main St',
    ],
    ...['--city', 'Austin', '--state', 'TX', '--postal-code', '78701', '--phone-number', '5125550100'],
  ]);
  expect(await orderOf(workspace, 'test-slow')).not.toBe('');
});
afterAll(() => workspace.remove());

/** Files of the built program that a run loads, as reported by Node's coverage. */
async function filesLoaded(...args: string[]): Promise<string[]> {
  const folder = join(workspace.folder, 'coverage', args.join('-'));
  mkdirSync(folder, { recursive: true });
  const traced = { ...workspace, environment: { ...workspace.environment, NODE_V8_COVERAGE: folder } };
  const { code } = await spawned(traced, args);
  expect(code).toBe(0);
  return readdirSync(folder).flatMap((name) => {
    const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    return result.map(({ url }) => url).filter((url) => url.includes('/dist/'));
  });
}

const drawsTables = (files: readonly string[]): boolean =>
  files.some((file) => file.includes('/cli-table3-'));

test('a list that is a table is drawn by cli-table3', async () => {
  expect(drawsTables(await filesLoaded('order', 'list'))).toBe(true);
});

test.each(['json', 'csv', 'id'])('-o %s loads no cli-table3', async (format) => {
  const files = await filesLoaded('order', 'list', '-o', format);
  expect(files.length).toBeGreaterThan(3);
  expect(drawsTables(files)).toBe(false);
});

test('a table without rows loads no cli-table3', async () => {
  expect(drawsTables(await filesLoaded('account', 'list'))).toBe(false);
});

test('a read over HTTP loads of Node no cryptography, no TLS, no processes and no fetch', async () => {
  const served = makeWorkspace();
  onTestFinished(() => served.remove());
  const { url } = await serveAt(served);
  const minted = await fetch(`${url}/sandbox/keys`, { method: 'POST' });
  const { api_key: key } = (await minted.json()) as { api_key: string };
  const list = join(served.folder, 'list.cjs');
  writeFileSync(list, "process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))");
  const environment = {
    ...served.environment,
    ERRAND_BASE_URL: url,
    ERRAND_API_KEY: key,
    NODE_OPTIONS: `--require=${list}`,
  };
  const { code, stderr } = await spawned({ ...served, environment }, ['order', 'list', '-o', 'json']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^NativeModule http$/m);
  expect(stderr).not.toMatch(/^NativeModule (crypto|tls|https|child_process|dns|internal\/deps\/undici.*)$/m);
});
