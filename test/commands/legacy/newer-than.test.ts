import { afterEach, beforeEach, expect, test } from 'vitest';
import { json, peer } from '../../support/peer.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

test('a fraction of unix seconds reaches the legacy surface, which takes one', async () => {
  const { url, received } = await peer(json({ status: 'completed', product_id: 'p1' }));
  Object.assign(workspace.environment, { ERRAND_LEGACY_BASE_URL: url, ERRAND_LEGACY_TOKEN: 'token' });
  const read = ['legacy', 'product', 'p1', '--retailer', 'harborgoods', '--newer-than', '1795000000.5'];
  const { code, stderr } = await errand(workspace, read);
  expect(code, stderr).toBe(0);
  expect(received[0]?.target).toContain('newer_than=1795000000.5');
});
