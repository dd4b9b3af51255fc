import { afterEach, beforeEach, expect, test } from 'vitest';
import { Begun } from '../support/begun.ts';
import { untilIdle } from '../support/idle.ts';
import { json, peer } from '../support/peer.ts';
import { begin, type Finished } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' }, { oddService: true });
});
afterEach(() => workspace.remove());

/** A service whose lists never end: each page is new. */
async function endless(field: string): Promise<readonly unknown[]> {
  let made = 0;
  const there = await peer((response, request, socket) => {
    const rows = Array.from({ length: 5 }, (_, row) => `row-${made + row}`).map((id) => ({
      id,
      short_id: id,
    }));
    made += rows.length;
    json({ [field]: rows, total: made + 1_000, next_page: made })(response, request, socket);
  });
  workspace.environment.ERRAND_BASE_URL = there.url;
  return there.received;
}

/** Runs a command whose deadline expires after some pages. */
async function untilDeadline(received: readonly unknown[], args: readonly string[]): Promise<Finished> {
  const begun = new Begun(workspace, [...args, '--timeout', '30m']);
  begun.child.stdin.end();
  await expect.poll(() => received.length).toBeGreaterThan(5);
  begun.passDeadline();
  return begun.ended();
}

test.each([
  ['order list --all', 'orders'],
  ['return list --all', 'return_requests'],
  ['product search --retailer a b --all', 'results'],
  ['api /nowhere --paginate', 'rows'],
])('%s ends with --timeout, and what came is whole', async (line, field) => {
  const received = await endless(field);
  const { code, stdout, stderr } = await untilDeadline(received, [...line.split(' '), '-o', 'json']);
  expect(code, stderr).toBe(8);
  expect(JSON.parse(stdout).length).toBeGreaterThan(5);
  expect(JSON.parse(stderr.slice(stderr.indexOf('{'))).error).toMatchObject({
    category: 'deadline',
    message: expect.stringMatching(/^--timeout passed; .* has more pages than came until then$/),
  });
});

test('account forwarding gives up its search with --timeout', async () => {
  const received = await endless('credentials');
  const { code, stderr } = await untilDeadline(received, ['account', 'forwarding', 'acct_1']);
  expect(code, stderr).toBe(8);
});

test('Ctrl-C is heard although nobody reads what is written', async () => {
  await endless('orders');
  const child = begin(workspace, 'errand', ['order', 'list', '--all', '-o', 'ndjson']);
  let printed = '';
  child.stderr.on('data', (text) => {
    printed += text;
  });
  const ended = new Promise<unknown>((resolve) => child.on('exit', resolve));
  await untilIdle(child.pid);
  expect(child.exitCode).toBeNull();
  child.kill('SIGINT');
  // Output stays unread until then: a process that misses the signal never ends.
  expect(await ended, printed).toBe(130);
});
