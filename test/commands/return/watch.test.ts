import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Until, verdictOf } from '../../../src/commands/return/watch.ts';
import type { Verdict } from '../../../src/platform/poll.ts';
import { Begun } from '../../support/begun.ts';
import { json, peer } from '../../support/peer.ts';
import { begin, embeddedShop, errand, shell } from '../../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

test.each<[string, Until, Verdict]>([
  ['open', 'approved', 'waiting'],
  ['in_progress', 'approved', 'waiting'],
  ['approved', 'approved', 'reached'],
  ['completed', 'approved', 'reached'],
  ['credited', 'approved', 'reached'],
  ['denied', 'approved', 'failed'],
  ['approved', 'credited', 'waiting'],
  ['completed', 'credited', 'reached'],
  ['credited', 'credited', 'reached'],
  ['denied', 'credited', 'failed'],
  ['never_heard_of', 'credited', 'waiting'],
])('a return that is %s, watched until %s, is %s', (status, until, verdict) => {
  expect(verdictOf({ status }, until)).toBe(verdict);
});

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const someId = '00000000-0000-4000-8000-000000000001';
const returned = (status: string) => ({
  ...{ id: someId, order_id: someId, status, reason: 'damaged', notes: null, resolution_notes: null },
  ...{ items: [], label_urls: [], merchant_return_id: null, credited_amount: 0 },
  ...{ created_at: '2026-03-01T12:00:00Z', updated_at: '2026-03-01T12:00:00Z' },
});

const watch = (...args: string[]) => errand(workspace, ['return', 'watch', ...args]);
const trigger = (event: string, id: string) => errand(workspace, ['sandbox', 'trigger', event, id]);
const records = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Creates an open return for a delivered order. */
async function requested(): Promise<string> {
  prefer(workspace, { 'sandbox-speed': 20 });
  const url = `${await embeddedShop()}test-success`;
  const create = `errand order create --product "${url}" --max-price '$50' --ship-to home --new -o id`;
  const order = (await shell(workspace, create)).stdout.trim();
  await errand(workspace, ['order', 'watch', order]);
  prefer(workspace, { 'sandbox-speed': 1 });
  return (
    await shell(workspace, `errand return create --order ${order} --reason damaged -o id`)
  ).stdout.trim();
}

describe('return watch', () => {
  test('follows a return until it is approved, one line for each change', async () => {
    const id = await requested();
    const watching = begin(workspace, 'errand', ['return', 'watch', id, '--interval', '100ms']);
    let stdout = '';
    watching.stdout.on('data', (data) => {
      if (stdout === '') void trigger('return-approved', id);
      stdout += data;
    });
    expect(await new Promise((resolve) => watching.on('close', resolve))).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.split('  ').slice(1, 3))).toEqual([
      [id, 'open'],
      [id, 'approved'],
    ]);
  });

  test('the money is waited for with --until credited', async () => {
    const id = await requested();
    await trigger('return-credited', id);
    const flags = ['--until', 'credited', '-o', 'json', '--query', 'credited_amount'];
    const { code, stdout } = await watch(id, ...flags);
    expect(code).toBe(0);
    expect(Number(stdout)).toBeGreaterThan(0);
  });

  test('at the deadline: 8, and the return goes on', async () => {
    const { url } = await peer(json(returned('approved')));
    workspace.environment.ERRAND_API_KEY = 'xx_test_0123456789abcdef0123';
    const until = ['return', 'watch', someId, '--until', 'credited', '--timeout', '30m', '--base-url', url];
    const untilDeadline = async (...more: string[]) => {
      const begun = new Begun(workspace, [...until, ...more]);
      await begun.prints('approved');
      begun.passDeadline();
      return begun.ended();
    };
    const late = await untilDeadline('-o', 'ndjson');
    expect(late.code).toBe(8);
    expect(records(late.stdout)).toMatchObject([
      { type: 'ready', returns: 1, until: 'credited' },
      { type: 'change', return: { id: someId, status: 'approved' }, verdict: 'waiting' },
      { type: 'summary', reached: 0, failed: 0, waiting: 1 },
    ]);
    const again = `errand return watch ${someId} --until credited --timeout 30m --base-url ${url}`;
    expect((await untilDeadline()).stderr).toBe(
      `--timeout passed; the return goes on\nto go on watching: ${again}\n`,
    );
  });

  test('a return that is denied is 7, and others are followed to their end', async () => {
    const [one, other] = [await requested(), await requested()];
    await trigger('return-denied', other);
    const both = await shell(
      workspace,
      `printf '${one}\\n${other}\\n' | errand return watch - -o csv --fields id,status`,
    );
    expect(both.code).toBe(7);
    const lines = both.stdout.split(/\r?\n/);
    expect(lines).toContain(`${other},denied`);
    expect(lines.join('\n')).toMatch(new RegExp(`^${one},(?:approved|credited)$`, 'm'));
  });

  test('a blip of the network is told, and ends nothing', async () => {
    const is = (status: string) => json(returned(status));
    const away = json({ code: 'service_unavailable', message: 'away', details: {} }, 503);
    const { url } = await peer(is('open'), away, is('approved'));
    workspace.environment.ERRAND_API_KEY = 'xx_test_0123456789abcdef0123';
    const { code, stdout } = await watch(
      ...[someId, '--base-url', url, '--retries', '0', '--interval', '50ms', '-o', 'ndjson'],
    );
    expect(code).toBe(0);
    expect(records(stdout).map(({ type }) => type)).toEqual([
      'ready',
      'change',
      'gap',
      'change',
      'reconnected',
      'summary',
    ]);
  });

  test.each([
    [[someId], 4],
    [['nonsense'], 2],
    [[], 2],
    [[someId, '--interval', '0s'], 2],
    [[someId, '--until', 'delivered'], 2],
  ])('return watch %j ends with %d', async (args, code) => {
    await errand(workspace, ['sandbox', 'mint']);
    expect(await watch(...args)).toMatchObject({ code, stdout: '' });
  });
});
