import { afterEach, beforeEach, expect, test } from 'vitest';
import { onceOf, page, submit } from '../../support/read-page.ts';
import { shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let service: TestService;
beforeEach(async () => {
  service = await TestService.start();
  workspace = makeWorkspace({ ERRAND_API_KEY: service.key });
});
afterEach(async () => {
  await service.stop();
  workspace.remove();
  expect(service.bugs).toEqual([]);
});

/** The commands a page offers for copying. */
async function commandsOn(path: string): Promise<string[]> {
  const { text } = await page(service, path);
  return [...text.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)].map(([, command = '']) =>
    command.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
  );
}

/** Runs the page's only command with this prefix and these words. */
async function run(path: string, begins: string, words = ''): Promise<string> {
  const found = (await commandsOn(path)).filter((it) => it.startsWith(begins) && it.includes(words));
  expect(found, `${begins} … ${words} on ${path}`).toHaveLength(1);
  const { code, stdout, stderr } = await shell(workspace, found[0] ?? '');
  expect([code, stderr], found[0]).toEqual([0, expect.not.stringContaining('rror')]);
  return stdout;
}

const walletPath = async (): Promise<string> =>
  /href="(\/console\/wallets\/[^"]+)"/.exec((await page(service, '/console/keys')).text)?.[1] ?? '';
const order = async (id: string) => (await service.send('GET', `/orders/${id}`)).body;

test.each(['errand', 'curl'])(
  'what stands beside the buttons of an order does the same, by %s',
  async (by) => {
    const placed = async () => (await service.order('test-slow')).body.id;
    const pathOf = (id: string) => `/console/orders/${id}`;
    const [one, two, three] = [await placed(), await placed(), await placed()];
    await run(pathOf(one), by, by === 'curl' ? '"shipped"' : 'trigger shipped');
    expect((await order(one)).items[0].status).toBe('shipped');
    await run(pathOf(two), by, by === 'curl' ? '"failed"' : 'trigger failed');
    expect((await order(two)).job_result.error_type).toBe('checkout_failed');
    await run(pathOf(three), by, by === 'curl' ? `${three}/cancel` : 'order cancel');
    expect((await order(three)).status).toBe('cancelled');
    await run(pathOf(one), by, 'advance');
    expect((await order(one)).items[0].status).toBe('delivered');
    await run(pathOf(one), by, by === 'curl' ? '/returns' : 'return create');
    const [{ id: returned }] = (await service.send('GET', '/returns')).body.return_requests;
    await run(pathOf(one), by, by === 'curl' ? '"return-approved"' : 'trigger return-approved');
    expect((await service.send('GET', `/returns/${returned}`)).body.status).toBe('approved');
  },
);

test.each(['errand', 'curl'])('what stands beside the forms of a wallet does the same, by %s', async (by) => {
  const path = await walletPath();
  await run(path, by, 'wallet-funded');
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(110_000);
  await run(path, by, 'wallet-emptied');
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(0);
  await run(path, by, 'key-claimed');
  expect((await service.send('GET', '/sandbox/status')).body.claimed_by_email).toBe('human@example.com');
  expect(await run('/console/keys', by, by === 'curl' ? '/sandbox/keys' : 'sandbox mint')).toContain(
    'sbx_test_',
  );
});

test.each(['errand', 'curl'])(
  'time, states and faults are controlled as the page says, by %s',
  async (by) => {
    const state = async () => (await service.send('GET', '/sandbox/control', undefined, null)).body;
    await run('/console/time', by, by === 'curl' ? ':3600000' : '1h');
    expect((await state()).now).toBe('2026-03-01T13:00:00.000Z');
    await run('/console/time', by, 'snapshot');
    expect((await state()).snapshots).toMatchObject([{ name: 'before' }]);
    await run('/console/time', by, by === 'curl' ? ':86400000' : '1d');
    await run('/console/time', by, 'restore');
    expect((await state()).now).toBe('2026-03-01T13:00:00.000Z');
    await run('/console/faults', by, '503:20%');
    expect((await state()).faults).toEqual(['503:20%@POST /orders']);
    await run('/console/faults', by, by === 'curl' ? '[]' : '--off');
    expect((await state()).faults).toEqual([]);
    await service.order('test-success');
    await run('/console/time', by, 'reset');
    expect((await service.send('GET', '/orders')).status).toBe(401);
  },
);

test('the call that orders a product places it, and the lines of a new key are all that a first order takes', async () => {
  await run('/shop/test-success', 'curl');
  expect((await service.send('GET', '/orders')).body.total).toBe(1);
  const once = onceOf((await page(service, '/console/keys')).text);
  const { text } = await submit(service, '/console/keys', { once });
  const [exports = '', curl = ''] = [/<pre[^>]*>(export .*?)<\/pre>/s, /<pre[^>]*>(curl .*?)<\/pre>/s].map(
    (form) =>
      (form.exec(text)?.[1] ?? '')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&'),
  );
  const done = await shell(workspace, `${exports}\n${curl} -o placed.json\nerrand order list -o id`);
  expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^[\da-f-]{36}\n$/)]);
});
