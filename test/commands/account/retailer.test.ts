import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

test('in a pipe a retailer that is not listed is told and taken; --yes is silent, and so is one that is listed', async () => {
  const stdin = { stdin: 'correct horse' };
  const add = ['account', 'add', '--password-file', '-', '-o', 'id', '--email'];
  const told = await errand(workspace, [...add, 'a@example.com', '--retailer', 'Harbor Goods'], stdin);
  expect(told.stderr).toContain(
    'warning: the service lists no retailer "Harbor Goods"; did you mean harborgoods?',
  );
  const id = told.stdout.trim();
  const changed = await errand(workspace, ['account', 'update', id, '--retailer', 'nosuch']);
  expect([changed.code, changed.stderr]).toEqual([
    0,
    expect.stringContaining('lists no retailer "nosuch"\n'),
  ]);
  for (const more of [
    ['b@example.com', '--retailer', 'nosuch', '--yes'],
    ['c@example.com', '--retailer', 'HarborGoods'],
  ]) {
    const silent = await errand(workspace, [...add, ...more], stdin);
    expect([silent.code, silent.stderr]).toEqual([0, expect.not.stringContaining('lists no retailer')]);
  }
});
