import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from '../../../support/run.ts';
import { TestService } from '../../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

let workspace: Workspace;
let service: TestService;

beforeEach(async () => {
  service = await TestService.start();
  workspace = makeWorkspace();
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

describe('the journal knows what a sandbox no longer has', () => {
  const place = async (slug: string, ...flags: string[]) => {
    const { stdout } = await errand(workspace, ['sandbox', 'products', '-o', 'id', ...at(flags)]);
    const url = stdout.split('\n').find((line) => line.endsWith(`/${slug}`)) ?? '';
    const order = [
      'order',
      'create',
      '--product',
      url,
      '--max-price',
      '$60',
      '--ship-to',
      'home',
      '-o',
      'id',
    ];
    return errand(workspace, [...order, ...flags]);
  };
  const at = (flags: readonly string[]) =>
    flags.includes('--base-url') ? ['--base-url', flags[flags.indexOf('--base-url') + 1] ?? ''] : [];
  const records = async (...flags: string[]) =>
    JSON.parse(
      (await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'json', ...flags])).stdout,
    );

  test('restored, the same order and another one with the same id are placed again; what was before stays known', async () => {
    const before = await place('test-slow');
    expect(before.code, before.stderr).toBe(0);
    await errand(workspace, ['sandbox', 'snapshot', 'before']);
    const first = await place('test-success');
    expect((await errand(workspace, ['sandbox', 'restore', 'before'])).code).toBe(0);
    const other = await place('test-two-packages');
    expect([other.code, other.stdout], other.stderr).toEqual([0, first.stdout]);
    expect((await errand(workspace, ['sandbox', 'restore', 'before'])).code).toBe(0);
    const again = await place('test-success');
    expect([again.code, again.stdout], again.stderr).toEqual([0, first.stdout]);
    // The order from before the snapshot still exists and is not placed again.
    expect((await place('test-slow')).code).toBe(5);
    const ended = (await records()).filter(({ code }: { code: string }) => code === 'undone');
    expect(ended).toMatchObject([
      { state: 'refused', order_id: null, message: 'the sandbox was restored to before' },
      { state: 'refused', order_id: null },
    ]);
    expect((await errand(workspace, ['audit', 'verify'])).code).toBe(0);
    expect((await errand(workspace, ['reconcile'])).stderr).not.toMatch(/missing|other_cost|doubt/);
  });

  test('restored or emptied, an order with a reference is placed again', async () => {
    const named = ['--reference', 'R-1'];
    await place('test-slow');
    await errand(workspace, ['sandbox', 'snapshot', 'before']);
    const first = await place('test-success', ...named);
    expect(first.code, first.stderr).toBe(0);
    expect((await errand(workspace, ['sandbox', 'restore', 'before'])).code).toBe(0);
    // It gets the id of the order that is gone.
    const other = await place('test-two-packages', '--reference', 'R-2');
    expect([other.code, other.stdout], other.stderr).toEqual([0, first.stdout]);
    const again = await place('test-success', ...named);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).not.toBe(other.stdout);
    expect((await errand(workspace, ['sandbox', 'reset', '--yes'])).code).toBe(0);
    const anew = await place('test-success', ...named);
    expect(anew.code, anew.stderr).toBe(0);
    expect((await place('test-success', ...named)).stdout).toBe(anew.stdout);
  });

  test('emptied, what was in doubt there is settled, and says so; other services keep theirs', async () => {
    await place('test-slow');
    await errand(workspace, ['sandbox', 'fault', 'reset-after@POST /orders']);
    expect((await place('test-success', '--retries', '0')).code).toBe(10);
    await errand(workspace, ['sandbox', 'fault', '--off']);
    const there = ['order', 'journal', 'resume', '--all', '--base-url', service.baseUrl];
    expect((await errand(workspace, there)).stderr).toContain(
      'more is in doubt in the sandbox that errand brings along: errand order journal resume --all --base-url embedded:',
    );
    await errand(workspace, ['sandbox', 'reset', '--yes', '--base-url', service.baseUrl]);
    expect((await records()).map(({ state }: { state: string }) => state).toSorted()).toEqual([
      'intended',
      'reported',
    ]);
    const { stderr } = await errand(workspace, ['sandbox', 'reset', '--yes']);
    expect(stderr).toContain('what was in doubt there is settled: the sandbox was emptied');
    expect((await records()).map(({ state }: { state: string }) => state)).toEqual(['refused', 'refused']);
    const { stderr: said, code } = await errand(workspace, ['order', 'journal', 'resume', '--all']);
    expect([code, said.includes('more is in doubt')]).toEqual([0, false]);
    expect((await place('test-success')).code).toBe(0);
  });
});
