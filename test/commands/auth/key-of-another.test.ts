import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const another = 'http://127.0.0.1:9';

test.each([
  ['--base-url', ['--base-url', another], {}],
  ['ERRAND_BASE_URL', [], { ERRAND_BASE_URL: another }],
])('a key for another address by %s is not stored for the profile', async (name, flags, environment) => {
  await errand(workspace, ['sandbox', 'mint']);
  const kept = async () => (await errand(workspace, ['auth', 'list', '-o', 'json'])).stdout;
  const before = await kept();
  Object.assign(workspace.environment, environment);
  const stdin = 'sbx_test_abcdefghijklmnopqrstuvwxyz';
  const run = await errand(workspace, ['auth', 'token', ...flags], { stdin });
  expect([run.code, run.stdout]).toEqual([2, '']);
  expect(run.stderr).toContain(
    `${name} names another service than profile local, where the key would be stored`,
  );
  expect(run.stderr).toContain('errand auth token --profile NAME');
  delete workspace.environment.ERRAND_BASE_URL;
  expect(await kept()).toBe(before);
});
