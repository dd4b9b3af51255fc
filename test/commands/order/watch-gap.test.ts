import { afterEach, beforeEach, expect, test } from 'vitest';
import { json, peer } from '../../support/peer.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const [arrived, late] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'sbx_test_0123456789abcdef0123' }, { oddService: true });
});
afterEach(() => workspace.remove());

test('an order that had reached what is awaited is not looked at again after a gap in the first round', async () => {
  const targets: string[] = [];
  const service = await peer((response, request, socket) => {
    // Both orders are older than the start of the list.
    if (request.target.includes('?')) return json({ orders: [], total: 900 })(response, request, socket);
    const id = request.target.slice(-late.length);
    const before = targets.filter((one) => one === id).length;
    targets.push(id);
    const order = { id, created_at: '2026-11-21T10:00:00Z', items: [], tracking_numbers: [] };
    if (id === late && before === 0)
      json({ code: 'internal_error', message: 'not now', details: {} }, 503)(response, request, socket);
    else
      json({ ...order, status: before === 0 || id === late ? 'order_placed' : 'cancelled' })(
        response,
        request,
        socket,
      );
  });
  workspace.environment.ERRAND_BASE_URL = service.url;
  const { code, stdout } = await errand(workspace, [
    ...['order', 'watch', arrived, late],
    ...['--until', 'placed', '--retries', '0', '--interval', '10ms', '-o', 'ndjson'],
  ]);
  const printed = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(printed.map(({ type, order }) => order?.id ?? type)).toEqual([
    'ready',
    arrived,
    'gap',
    late,
    'reconnected',
    'summary',
  ]);
  expect([printed.at(-1).reached, printed.at(-1).failed, code]).toEqual([2, 0, 0]);
  expect(targets).toEqual([arrived, late, late]);
});
