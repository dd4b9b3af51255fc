import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { errand } from '../support/run.ts';
import { earlierMachine, madeOf } from './fixture.ts';
import { shop } from './made.ts';

test('what an earlier build ordered is a duplicate under a policy that this one reads', async () => {
  const workspace = await earlierMachine('machine');
  onTestFinished(() => workspace.remove());
  const policy = (then: string) =>
    writeFileSync(
      join(workspace.folder, '.config/policy.yaml'),
      `version: 1\nduplicates: { same: [product, address], within: 7d, then: ${then} }\n`,
      { mode: 0o600 },
    );
  const order = (slug: string, ...more: string[]) =>
    errand(workspace, [
      ...['order', 'create', '--product', `${shop}/${slug}`, '--max-price', '$10', '--ship-to', 'home'],
      ...['--new', ...more],
    ]);
  policy('refuse');
  const again = await order('test-success');
  expect([again.code, again.stderr]).toEqual([
    11,
    expect.stringContaining('the same product and the same address as'),
  ]);
  // It failed, so nothing stands in the way.
  expect(madeOf('machine').made['failed.id']).toBeDefined();
  const failed = await order('test-out-of-stock');
  expect(failed.code, failed.stderr).toBe(0);
  policy('approve');
  const asked = await order('test-success', '-o', 'json');
  expect(asked.code, asked.stderr).toBe(11);
  expect(asked.stderr).toContain('approval_required');
});
