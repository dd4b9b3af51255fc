import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand, orderOf, spawned } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const snapshots = (): string => {
  const found = readdirSync(workspace.folder, { recursive: true, encoding: 'utf8' });
  const kept = found.find((path) => path.endsWith(join('snapshots', 'first.db')));
  expect(kept).toBeDefined();
  return join(workspace.folder, dirname(kept ?? ''));
};

test('of several that take a snapshot of one name at the same time one does; what a killed one left is removed', async () => {
  await orderOf(workspace, 'test-slow');
  await errand(workspace, ['sandbox', 'snapshot', 'first']);
  const folder = snapshots();
  for (const end of ['', '-journal']) writeFileSync(join(folder, `big.db.4194999${end}`), 'half');
  const taking = [1, 2, 3, 4].map(() => spawned(workspace, ['sandbox', 'snapshot', 'same']));
  const runs = await Promise.all(taking);
  expect(runs.map(({ code }) => code).toSorted()).toEqual([0, 2, 2, 2]);
  for (const { code, stderr } of runs)
    if (code !== 0) expect(stderr).toContain('there is a snapshot same already; --force takes it anew');
  expect(readdirSync(folder).toSorted()).toEqual(['first.db', 'same.db']);
  const anew = [1, 2].map(() => spawned(workspace, ['sandbox', 'snapshot', 'same', '--force']));
  expect((await Promise.all(anew)).map(({ code }) => code)).toEqual([0, 0]);
  expect((await errand(workspace, ['sandbox', 'restore', 'same'])).code).toBe(0);
});
