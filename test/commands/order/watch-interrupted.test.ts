import { afterEach, beforeEach, expect, test } from 'vitest';
import { begin, embeddedShop, errand, orderOf } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});

afterEach(() => workspace.remove());

test('order watch -o ndjson that is interrupted ends with a summary, and no word of a deadline', async () => {
  const id = await orderOf(workspace, 'test-slow');

  const watching = begin(workspace, 'errand', ['order', 'watch', id, '-o', 'ndjson']);
  let stdout = '';
  let stderr = '';
  watching.stderr.on('data', (data) => {
    stderr += data;
  });
  watching.stdout.on('data', (data) => {
    stdout += data;
    if (/"change".*\n/.test(stdout) && !watching.killed) watching.kill('SIGINT');
  });
  const code = await new Promise((resolve) => watching.on('close', resolve));

  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ type }) => type)).toEqual(['ready', 'change', 'summary']);
  expect(records.at(-1)).toMatchObject({ reached: 0, failed: 0, waiting: 1 });
  expect(JSON.parse(stderr)).toMatchObject({ error: { category: 'interrupted', exit_code: 130 } });
  expect(code).toBe(130);
});

test('the first order of a machine that is interrupted while it is watched is told, and owed no more', async () => {
  const url = `${await embeddedShop()}test-slow`;
  const args = ['order', 'create', '--product', url, '--max-price', '$50', '--ship-to', 'home'];
  const watching = begin(workspace, 'errand', [...args, '--watch', '-o', 'json']);
  let stderr = '';
  watching.stderr.on('data', (data) => {
    stderr += data;
    if (/pending/.test(stderr) && !watching.killed) watching.kill('SIGINT');
  });
  expect(await new Promise((resolve) => watching.on('close', resolve))).toBe(130);
  const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ category: 'interrupted', outcome: 'applied' });
  const owed = await errand(workspace, ['order', 'journal', 'list', '-o', 'json']);
  expect(owed.stdout.trim()).toBe('[]');
});
