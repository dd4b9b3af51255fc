import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultProxy } from '../../faults/proxy.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

let service: TestService;
let losses: FaultProxy;
let workspace: Workspace;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  losses = new FaultProxy(service.baseUrl);
  workspace = makeWorkspace({
    ERRAND_NO_INPUT: '1',
    ERRAND_BASE_URL: await losses.start(),
    ERRAND_API_KEY: service.key,
  });
});
afterEach(async () => {
  await losses.stop();
  await service.stop();
  workspace.remove();
});

const run = (...args: readonly string[]): Promise<Finished> => errand(workspace, args);

function order(slug: string, more: object = {}): string {
  const file = join(workspace.folder, 'order.json');
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

/** Asserts that a page's lines add up to its sums per payer and currency. */
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
  test('its amounts add up, and all stories together are what the wallet lost', async () => {
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
    expect(story.summary).toContain('Nothing here says that this machine asked for it.');
    expect((await explained(await made('test-success'))).summary).not.toContain('Nothing here');
    expectAddsUp(story);
  });

  test('a parcel that was not delivered is not to be returned twice, and one to be picked up is there', async () => {
    const lost = await made('test-undeliverable');
    const there = await made('test-pickup');
    service.pass(60_000);
    const command = `errand return create --order ${lost} --reason not_delivered`;
    expect((await explained(lost)).open).toMatchObject([{ command }]);
    expect((await run(...command.split(' ').slice(1))).code).toBe(0);
    const { stdout } = await run('return', 'list', '-o', 'id');
    expect((await explained(lost)).open).toMatchObject([{ command: `errand return get ${stdout.trim()}` }]);
    service.pass(60_000);
    expect((await explained(lost)).open).toEqual([]);
    expect((await explained(there)).summary).toContain('It is ready for pickup.');
  });

  test('why and what to do are those of this order, each said once', async () => {
    const page = async (id: string): Promise<string> => (await run('order', 'explain', id)).stdout;
    const [refused, dear, cancelled, byRetailer, relaxed] = [
      await made('test-login-failed'),
      await made('test-price-exceeded'),
      await made('test-slow'),
      await made('test-cancelled-by-retailer'),
      await made('test-gift-unavailable', { is_gift: true, fulfillment: { gift: 'best_effort' } }),
    ];
    expect((await run('order', 'cancel', cancelled)).code).toBe(0);
    service.pass(60_000);
    expect(await page(refused)).toMatch(
      /^what to do +This retailer needs your own account: `errand account add`/m,
    );
    expect((await page(dear)).match(/max_price_exceeded:/g)).toHaveLength(1);
    expect(await page(cancelled)).toMatch(/^what to do +Order it again if it is still wanted\.$/m);
    expect(await page(byRetailer)).toMatch(/^what to do +Order again later, or from another retailer;/m);
    const kept = await page(relaxed);
    expect(kept).toMatch(/^status +order_placed$/m);
    expect(kept).toMatch(/^not as asked +[^:]*, as you allowed\.$/m);
    expect(kept).not.toMatch(/^(?:why|what to do) /m);
  });

  test('what was charged in another currency than the price is said beside it', async () => {
    const body = orderBody('https://www.kesselundkanne.example/item/9259104320');
    const address = { city: 'Berlin', state: 'BE', postal_code: '10115', country: 'DE' };
    const file = join(workspace.folder, 'order.json');
    const shipping_address = { ...body.shipping_address, ...address };
    writeFileSync(file, JSON.stringify({ ...body, shipping_address }));
    // Only the sandbox has a foreign retailer.
    delete workspace.environment.ERRAND_API_KEY;
    workspace.environment.ERRAND_BASE_URL = 'embedded:';
    expect((await run('sandbox', 'mint')).code).toBe(0);
    prefer(workspace, { 'sandbox-speed': 100 });
    const { stdout, stderr } = await run('order', 'create', '--file', file, '--watch', '-o', 'id');
    expect(stdout, stderr).not.toBe('');
    const { price, money } = await explained(stdout.trim());
    expect(price).toMatchObject({ currency: 'EUR', charged: { currency: 'USD' } });
    expect(price.charged.cents).toBe(money.sums[0].charged);
    expect((await run('order', 'explain', stdout.trim())).stdout).toMatch(
      /^ {2}charged, converted from EUR +\$\d+\.\d\d$/m,
    );
  });

  test('a narrow terminal breaks sentences between words', async () => {
    const id = await made('test-login-failed');
    service.pass(60_000);
    const terminal = new Terminal(workspace, 'errand', ['order', 'explain', id], { columns: 50 });
    try {
      expect(await terminal.ended()).toBe(0);
      expect(terminal.text).toMatch(
        /^what to do +This retailer needs your own account:\n {12}`errand account add`, then order with\n {12}--account\.$/m,
      );
    } finally {
      terminal.close();
    }
  });

  test('a CSV has one plain cell for each part, and JSON names its fields one way', async () => {
    const id = await made('test-success');
    service.pass(60_000);
    for (const line of [['order', 'explain', id], ['reconcile']]) {
      const { stdout } = await run(...line, '-o', 'csv');
      const [header = '', cells = ''] = stdout.split('\n');
      expect(stdout.split('\n')).toHaveLength(3);
      expect(header).not.toMatch(/\.\d|steps|milestones/);
      expect(cells).not.toMatch(/[{}[\]]/);
      expect(cells).toContain('wallet $20.99');
      const json = (await run(...line, '-o', 'json')).stdout;
      expect(json.match(/"[a-z]+[A-Z]\w*":/g)).toBeNull();
    }
    const named = await run('order', 'explain', id, '-o', 'csv', '--fields', 'id,steps');
    expect(named.stdout).toMatch(/^id,steps\n/);
  });

  test('one in doubt is explained by its key, with the command that settles it', async () => {
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

  test('one that is paid by challenge shows what came back', async () => {
    const id = await made('test-success', {}, ['agent', 'order']);
    expect((await explained(id)).money).toMatchObject({ payer: 'challenge', is_open: true, due: [] });
    service.pass(60_000);
    const story = await explained(id);
    expect(story.money.sums).toMatchObject([
      { payer: 'challenge', charged: 5_000, fee: 100, refunded: 3_001, net: 2_099 },
    ]);
    expect(story.asked.operation).toBe('agent.order.create');
    expect(story.summary).toContain('It cost $20.99 with a payment by challenge.');
    expectAddsUp(story);
  });

  test('one of a batch names its row', async () => {
    const { first_name, last_name, ...address } = orderBody('').shipping_address;
    const cells = { ...address, name: `${first_name} ${last_name}`, max_price_cents: '5000' };
    const header = ['product_url', ...Object.keys(cells)].join(',');
    const rows = ['test-success', 'test-out-of-stock'].map((slug) =>
      [service.product(slug), ...Object.values(cells)].join(','),
    );
    writeFileSync(join(workspace.folder, 'orders.csv'), `${[header, ...rows].join('\n')}\n`);
    const { stdout: batch, stderr } = await run('bulk', 'upload', 'orders.csv', '-o', 'id');
    expect(batch, stderr).toMatch(/^[0-9a-f-]{36}\n$/);
    service.pass(60_000);
    const { rows: placed } = (await service.send('GET', `/orders/bulk/${batch.trim()}`)).body;
    const story = await explained(placed[1].order_id);
    expect(story).toMatchObject({
      status: 'order_failed',
      asked: { operation: 'bulk.create', batch: batch.trim(), row: 2 },
    });
    expect(story.asked).toMatchObject({ ceiling_cents: 5_000, batch_ceiling_cents: 10_000 });
    expect(story.steps[0].step).toBe('batch intent');
    const page = (await run('order', 'explain', placed[1].order_id)).stdout;
    expect(page).toMatch(/^ {2}ceiling +\$50\.00$/m);
    expect(page).toMatch(/^ {2}ceiling of the whole file +\$100\.00$/m);
    const wrong = await run('order', 'explain', batch.trim());
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is a batch, not an order') });
  });

  test('what the policy reserved, and what became of it', async () => {
    mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
    const policy = join(workspace.folder, '.config', 'policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits:\n  per_day: $200\n', { mode: 0o600 });
    const id = await made('test-success');
    service.pass(60_000);
    const story = await explained(id);
    // Fetching the cost settles the reservation.
    expect(story.policy).toMatchObject({
      state: 'settled',
      reserved_cents: 5_100,
      fee_cents: 100,
      counted_cents: 2_099,
    });
    expect(story.open).toEqual([]);
    expect((await run('order', 'explain', id)).stdout).toMatch(
      /^policy +allowed; \$20\.99 counts, what it cost/m,
    );
    const [usage] = JSON.parse((await run('policy', 'usage', '-o', 'json')).stdout);
    expect(usage).toMatchObject({ used_cents: 2_099, open_cents: 0 });
    const waits = await made('test-never');
    const held = await explained(waits);
    expect(held.policy).toMatchObject({ state: 'held', counted_cents: 5_100 });
    expect(held.open.map(({ command }: { command: string }) => command)).not.toContain(
      'errand policy usage --refresh',
    );
  });

  test('a return is told with its credit, and one that is open says what to do', async () => {
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

  test('the chain keeps what a payer by challenge got back, once', async () => {
    const id = await made('test-out-of-stock', {}, ['agent', 'order']);
    service.pass(60_000);
    await explained(id);
    await explained(id);
    const { stdout: chain } = await run('audit', 'log', '--kind', 'refund', '-o', 'json');
    expect(JSON.parse(chain)).toMatchObject([
      { order_id: id, amount_cents: 5_100, currency: 'usd', detail: { refund: 1 } },
    ]);
  });

  test('what nobody knows is not found, and what is no order is said to be', async () => {
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

test('an order with a reference says which attempt it is; journal list names the reference', async () => {
  const create = (slug: string) =>
    run('order', 'create', '--file', order(slug), '--reference', 'REQ-1', '--namespace', 'shop', '-o', 'id');
  const failed = await create('test-out-of-stock');
  expect(failed.code, failed.stderr).toBe(0);
  service.pass(60_000);
  const second = await create('test-success');
  expect(second.code, second.stderr).toBe(0);
  const [first, id] = [failed.stdout.trim(), second.stdout.trim()];
  const story = await explained(id);
  expect(story).toMatchObject({
    ...{ reference: 'shop:REQ-1', attempt: 2 },
    attempts: [
      { attempt: 1, order_id: first, state: 'failed' },
      { attempt: 2, order_id: id, state: 'placed' },
    ],
  });
  expect(await explained(first)).toMatchObject({ reference: 'shop:REQ-1', attempt: 1 });
  expect((await run('order', 'explain', id)).stdout).toMatch(/reference +shop:REQ-1\n.*attempt +2\n/);
  const plain = await explained(await made('test-success'));
  expect(plain).toMatchObject({ reference: null, attempt: null, attempts: [] });
  const listed = await run('order', 'journal', 'list', '--all', '-o', 'csv');
  expect(listed.stdout).toContain('body.metadata.errand_reference');
  expect(listed.stdout).toContain('shop:REQ-1');
});
