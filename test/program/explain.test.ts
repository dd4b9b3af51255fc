import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultProxy } from '../faults/proxy.ts';
import { orderBody } from '../order-body.ts';
import { TestService } from '../service/service.ts';
import { makePlace, type Place } from './place.ts';
import { errand, type Finished } from './run.ts';

let service: TestService;
let losses: FaultProxy;
let place: Place;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  losses = new FaultProxy(service.baseUrl);
  place = makePlace({
    ERRAND_NO_INPUT: '1',
    ERRAND_BASE_URL: await losses.start(),
    ERRAND_API_KEY: service.key,
  });
});
afterEach(async () => {
  await losses.stop();
  await service.stop();
  place.remove();
});

const run = (...args: readonly string[]): Promise<Finished> => errand(place, args);

function order(slug: string, more: object = {}): string {
  const file = join(place.folder, 'order.json');
  writeFileSync(file, JSON.stringify({ ...orderBody(service.product(slug)), ...more }));
  return file;
}

async function made(slug: string, more: object = {}, noun: readonly string[] = ['order']): Promise<string> {
  const { stdout, stderr } = await run(...noun, 'create', '--file', order(slug, more), '--new', '-o', 'id');
  expect(stdout, stderr).toMatch(/^[0-9a-f-]{36}\n$/);
  return stdout.trim();
}

async function explained(id: string) {
  const { code, stdout, stderr } = await run('order', 'explain', id, '-o', 'json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

interface Line {
  readonly what: string;
  readonly cents: number;
  readonly payer: string;
  readonly currency: string;
}

/** Whether the lines of a page add up to its sums, for each payer and currency. */
function expectAddsUp({
  money,
  price,
}: {
  money: { lines: Line[]; sums: Record<string, never>[] };
  price: never;
}): void {
  for (const { payer, currency, held, net } of money.sums) {
    const lines = money.lines.filter((line) => line.payer === payer && line.currency === currency);
    expect(lines.reduce((sum, { cents }) => sum + cents, 0)).toBe(Number(held) + Number(net));
  }
  const covered = money.lines.every((line) =>
    money.sums.some(({ payer, currency }) => line.payer === payer && line.currency === currency),
  );
  expect(covered).toBe(true);
  const { parts = [], total = 0 } = Object(price);
  expect(parts.reduce((sum: number, part: Line) => sum + part.cents, 0)).toBe(total);
}

const wallet = async () => (await service.send('GET', '/wallet/me')).body;

describe('the story of an order', () => {
  test('its amounts add up, and all stories together are what the wallet lost', {
    timeout: 120_000,
  }, async () => {
    const opening = (await wallet()).balance;
    const ids = [
      await made('test-success'),
      await made('test-two-packages'),
      await made('test-out-of-stock'),
      await made('test-price-exceeded'),
      await made('test-cancelled-by-retailer'),
      await made('test-success', { payment: { mode: 'card' } }),
      await made('test-success', { payment: { mode: 'connect', margin: { type: 'percent', value: 10 } } }),
    ];
    const cancelled = await made('test-slow');
    expect((await run('order', 'cancel', cancelled)).code).toBe(0);
    const returned = await made('test-success', { po_number: 'returned' });
    service.pass(60_000);
    expect((await run('return', 'create', '--order', returned, '--reason', 'damaged')).code).toBe(0);
    service.pass(60_000);
    const waits = await made('test-never');
    const stories: Awaited<ReturnType<typeof explained>>[] = [];
    for (const id of [...ids, cancelled, returned, waits]) stories.push(await explained(id));
    stories.forEach(expectAddsUp);
    const ofWallet = (what: string): number =>
      stories
        .flatMap(({ money }) => money.sums)
        .filter(({ payer }) => payer === 'wallet')
        .reduce((sum, one) => sum + one[what], 0);
    const { balance, spendable_balance: spendable } = await wallet();
    expect(ofWallet('net')).toBe(opening - balance);
    expect(ofWallet('held')).toBe(balance - spendable);
    expect(stories.map(({ status }) => status)).toEqual([
      ...['order_placed', 'order_placed', 'order_failed', 'order_failed', 'cancelled_by_retailer'],
      ...['order_placed', 'order_placed', 'cancelled', 'order_placed', 'pending'],
    ]);
    for (const { money } of stories)
      for (const { what, basis } of money.lines)
        if (what === 'fee' && money.payer === 'wallet') expect(basis).toBe('by_rule');
  });

  test('says who asked, what was attempted, why it failed and what to do', async () => {
    const id = await made('test-out-of-stock');
    service.pass(60_000);
    const story = await explained(id);
    expect(story).toMatchObject({
      id,
      status: 'order_failed',
      asked: { operation: 'order.create', ceiling_cents: 5000, row: null },
      why: [{ code: 'out_of_stock', hint: expect.stringContaining('sold out') }],
      policy: null,
      steps: [{ step: 'intent' }, { step: 'responded' }, { step: 'settled', amount_cents: 0 }],
      open: [],
    });
    expect(story.asked.command).toContain('errand order create');
    expect(story.milestones.map(({ type }: { type: string }) => type)).toEqual([
      'order_created',
      'order_failed',
    ]);
    const page = (await run('order', 'explain', id)).stdout;
    expect(page).toMatch(/^in short +It failed \(out_of_stock\); nothing was bought\. It cost nothing\.$/m);
    expect(page).toMatch(/^what to do +The item is sold out/m);
  });

  test('an order that this machine never saw has the part of the service', async () => {
    const { body } = await service.order('test-success');
    service.pass(60_000);
    const story = await explained(body.id);
    expect(story).toMatchObject({
      id: body.id,
      key: null,
      asked: null,
      policy: null,
      steps: [],
      status: 'order_placed',
    });
    expect(story.money.sums).toMatchObject([{ payer: 'wallet', net: 2_099 }]);
    expectAddsUp(story);
  });

  test('one in doubt is explained by its key, with the command that settles it', {
    timeout: 60_000,
  }, async () => {
    losses.faults = ['reset-before', 'reset-before'];
    const create = ['order', 'create', '--file', order('test-success'), '--retries', '0'];
    expect((await run(...create, '--idempotency-key=-odd key')).code).toBe(10);
    losses.faults = [];
    const { code, stdout, stderr } = await run('order', 'explain', '-o', 'json', '--', '-odd key');
    expect(code, stderr).toBe(0);
    const story = JSON.parse(stdout);
    expect(story).toMatchObject({
      id: null,
      key: '-odd key',
      status: 'intended',
      money: null,
      steps: [{ step: 'intent' }, { step: 'in_doubt' }],
      open: [{ command: "errand order journal resume -- '-odd key'" }],
    });
    expect((await run('order', 'journal', 'resume', '--', '-odd key')).code).toBe(0);
    const settled = JSON.parse((await run('order', 'explain', '-o', 'json', '--', '-odd key')).stdout);
    expect(settled).toMatchObject({
      key: '-odd key',
      steps: [{}, {}, { step: 'resumed' }, { step: 'responded' }],
    });
    expect(settled.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('one that is paid by challenge shows what came back', { timeout: 60_000 }, async () => {
    const id = await made('test-success', {}, ['agent', 'order']);
    expect((await explained(id)).money).toMatchObject({ payer: 'challenge', isOpen: true, due: [] });
    service.pass(60_000);
    const story = await explained(id);
    expect(story.money.sums).toMatchObject([
      { payer: 'challenge', charged: 5_000, fee: 100, refunded: 3_001, net: 2_099 },
    ]);
    expect(story.asked.operation).toBe('agent.order.create');
    expectAddsUp(story);
  });

  test('one of a batch names its row', { timeout: 60_000 }, async () => {
    const { first_name, last_name, ...address } = orderBody('').shipping_address;
    const cells = { ...address, name: `${first_name} ${last_name}`, max_price_cents: '5000' };
    const header = ['product_url', ...Object.keys(cells)].join(',');
    const rows = ['test-success', 'test-out-of-stock'].map((slug) =>
      [service.product(slug), ...Object.values(cells)].join(','),
    );
    writeFileSync(join(place.folder, 'orders.csv'), `${[header, ...rows].join('\n')}\n`);
    const { stdout: batch, stderr } = await run('bulk', 'upload', 'orders.csv', '-o', 'id');
    expect(batch, stderr).toMatch(/^[0-9a-f-]{36}\n$/);
    service.pass(60_000);
    const { rows: placed } = (await service.send('GET', `/orders/bulk/${batch.trim()}`)).body;
    const story = await explained(placed[1].order_id);
    expect(story).toMatchObject({
      status: 'order_failed',
      asked: { operation: 'bulk.create', batch: batch.trim(), row: 2 },
    });
    const wrong = await run('order', 'explain', batch.trim());
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is a batch, not an order') });
  });

  test('what the policy reserved, and what became of it', { timeout: 60_000 }, async () => {
    mkdirSync(join(place.folder, '.config'), { recursive: true, mode: 0o700 });
    const policy = join(place.folder, '.config', 'policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits:\n  per_day: $200\n', { mode: 0o600 });
    const id = await made('test-success');
    service.pass(60_000);
    const story = await explained(id);
    expect(story.policy).toMatchObject({
      state: 'held',
      reserved_cents: 5_100,
      fee_cents: 100,
      counted_cents: 5_100,
    });
    const [point] = story.open;
    expect(point.command).toBe('errand policy usage --refresh');
    expect((await run('policy', 'usage', '--refresh')).code).toBe(0);
    const settled = await explained(id);
    expect(settled).toMatchObject({ policy: { state: 'settled', counted_cents: 2_099 }, open: [] });
  });

  test('a return is told with its credit, and one that is open says what to do', {
    timeout: 60_000,
  }, async () => {
    const id = await made('test-success');
    service.pass(60_000);
    const { stdout } = await run('return', 'create', '--order', id, '--reason', 'damaged', '-o', 'id');
    const open = await explained(id);
    expect(open.open).toMatchObject([{ command: `errand return get ${stdout.trim()}` }]);
    expect(open.steps.map(({ step }: { step: string }) => step)).toContain('return responded');
    service.pass(60_000);
    const story = await explained(id);
    expect(story.returns).toMatchObject([{ status: 'credited', credited_amount: 1_999 }]);
    expect(story.money.sums).toMatchObject([{ credited: 1_999, net: 100 }]);
    expect(story.open).toEqual([]);
    const { stdout: chain } = await run('audit', 'log', '--kind', 'return_credit', '-o', 'json');
    expect(JSON.parse(chain)).toMatchObject([
      { order_id: id, amount_cents: 1_999, detail: { return: stdout.trim() } },
    ]);
  });

  test('the chain keeps what a payer by challenge got back, once', { timeout: 60_000 }, async () => {
    const id = await made('test-out-of-stock', {}, ['agent', 'order']);
    service.pass(60_000);
    await explained(id);
    await explained(id);
    const { stdout: chain } = await run('audit', 'log', '--kind', 'refund', '-o', 'json');
    expect(JSON.parse(chain)).toMatchObject([
      { order_id: id, amount_cents: 5_100, currency: 'usd', detail: { refund: 1 } },
    ]);
  });

  test('what nobody knows is not found, and what is no order is said to be', {
    timeout: 60_000,
  }, async () => {
    expect(await run('order', 'explain', 'nothing')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        'neither the service nor this machine knows an order or a key "nothing"',
      ),
    });
    expect((await run('order', 'explain', '00000000-0000-4000-8000-000000000000')).code).toBe(4);
    expect((await run('order', 'explain', '')).code).toBe(2);
  });
});
