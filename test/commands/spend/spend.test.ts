import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const hour = 3600 * 1000;
const hostile = '\u001b[31m=HYPERLINK("x")</td><script>alert(1)</script>\u202e';

let service: TestService;
let workspace: Workspace;
let account: string;

/** Orders over two days with every payer, all completed. */
beforeAll(async () => {
  service = await TestService.start({ now: Date.parse('2026-11-30T20:00:00Z') });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  const made = await service.send('POST', '/managed-accounts', { email: 'a@example.com', password: 'x' });
  account = made.body.short_id;
  await service.order('test-success', { metadata: { team: 'office' }, po_number: 'PO-1' });
  await service.order('test-out-of-stock', { metadata: { team: 'office' } });
  await service.order('test-cancelled-by-retailer', { metadata: { team: hostile } });
  await service.order('test-success', { retailer_credentials_id: account });
  await service.order('test-success', { payment: { mode: 'card', payment_method: 'pm_1' } });
  service.pass(10 * hour);
  const { body } = await service.order('test-success', { po_number: 'PO-2' });
  service.pass(hour);
  const order = (await service.send('GET', `/orders/${body.id}`)).body;
  const items = [{ order_item_id: order.items[0].id, quantity: 1 }];
  await service.send('POST', '/returns', { order_id: body.id, items, reason: 'not_delivered' });
  service.pass(hour);
  await service.order('test-never');
  service.pass(60 * 1000);
});
afterAll(async () => {
  workspace.remove();
  await service.stop();
});

interface Row {
  readonly group: string | null;
  readonly paid_by: string;
  readonly by_rule: string[];
  readonly [amount: string]: unknown;
}

const rows = async (...args: string[]): Promise<Row[]> => {
  const finished = await errand(workspace, ['spend', ...args, '-o', 'json']);
  expect(finished).toMatchObject({ code: 0 });
  return JSON.parse(finished.stdout);
};
const ofWallet = (all: readonly Row[]) => all.filter(({ paid_by }) => paid_by === 'wallet');
const sum = (all: readonly Row[], name: string): number =>
  all.reduce((total, row) => total + Number(row[name]), 0);

test.each(['day', 'month', 'retailer', 'country', 'po', 'account', 'metadata.team'])(
  'by %s the rows of the wallet are what has left it, to the cent',
  async (by) => {
    const wallet = (await service.send('GET', '/wallet/me')).body;
    const all = await rows('--by', by);
    expect(100_000 - sum(ofWallet(all), 'net_cents')).toBe(wallet.balance);
    expect(sum(ofWallet(all), 'held_cents')).toBe(wallet.balance - wallet.spendable_balance);
    for (const row of all)
      expect(
        Number(row.spent_cents) +
          Number(row.fees_cents) -
          Number(row.refunded_cents) -
          Number(row.credited_cents),
      ).toBe(row.net_cents);
    expect(sum(all, 'orders')).toBe(7);
  },
);

test('what a retailer account or a card paid stands apart; the fee of an account is the wallet\u2019s', async () => {
  const all = await rows('--by', 'account');
  expect(all.find(({ paid_by }) => paid_by === 'card')).toMatchObject({ net_cents: 2099, group: null });
  expect(all.find(({ paid_by }) => paid_by === 'retailer_account')).toMatchObject({
    spent_cents: 1999,
    fees_cents: 0,
    group: account,
  });
  expect(all.find(({ group, paid_by }) => group === account && paid_by === 'wallet')).toMatchObject({
    spent_cents: 0,
    fees_cents: 100,
    orders: 0,
  });
});

test('what no record shows is said to be by rule', async () => {
  const byRule = ofWallet(await rows()).map(({ by_rule }) => by_rule);
  expect(byRule).toEqual([
    ['fees_cents', 'refunded_cents'],
    ['fees_cents', 'held_cents'],
  ]);
  const shown = await errand(workspace, ['spend']);
  expect(shown.stdout).toMatch(/SPENT +FEES\* +REFUNDED\* +CREDITED +NET +HELD\*/);
  expect(shown.stderr).toContain('* by rule');
});

test('days are those of the zone, which is told; the policy has one, and a flag another', async () => {
  const days = async (...args: string[]) => [
    ...new Set((await rows('--by', 'day', ...args)).map(({ group }) => group)),
  ];
  expect(await days()).toEqual(['2026-11-30', '2026-12-01']);
  expect(await days('--time-zone', 'America/Chicago')).toEqual(['2026-11-30', '2026-12-01']);
  expect(await days('--time-zone', 'Asia/Tokyo')).toEqual(['2026-12-01']);
  expect((await errand(workspace, ['spend'])).stderr).toContain(
    'time zone: UTC (change it with --time-zone)',
  );
  const policy = join(workspace.folder, 'policy.yaml');
  writeFileSync(policy, 'version: 1\ntime_zone: Asia/Tokyo\n', { mode: 0o600 });
  const held = { ...workspace, environment: { ...workspace.environment, ERRAND_POLICY: policy } };
  expect((await errand(held, ['spend'])).stderr).toContain('time zone: Asia/Tokyo (from the policy ');
  writeFileSync(policy, 'version: [', { mode: 0o600 });
  const broken = await errand(held, ['spend']);
  expect([broken.code, broken.stderr]).toEqual([0, expect.stringContaining('its time zone is not known')]);
});

test('a span takes whole days and months of the zone', async () => {
  const count = async (...args: string[]) => sum(await rows(...args), 'orders');
  expect(await count('--until', '2026-11')).toBe(5);
  expect(await count('--since', '2026-12-01', '--until', '2026-12-01')).toBe(2);
  expect(await count('--since', '2026-12-01', '--time-zone', 'Asia/Tokyo')).toBe(7);
  expect(await count('--since', '2027-01')).toBe(0);
});

test('each format has the same rows, and they add up; a table ends with totals', async () => {
  const all = await rows('--by', 'day');
  const csv = (await errand(workspace, ['spend', '--by', 'day', '-o', 'csv'])).stdout.trim().split(/\r?\n/);
  expect(csv).toHaveLength(all.length + 1);
  expect(csv[1]).toContain(`2026-11-30,wallet,USD,3,${all[0]?.spent_cents},${all[0]?.fees_cents}`);
  const yaml = (await errand(workspace, ['spend', '--by', 'day', '-o', 'yaml'])).stdout;
  expect([...yaml.matchAll(/net_cents: (-?\d+)/g)].map(([, cents]) => Number(cents))).toEqual(
    all.map(({ net_cents }) => net_cents),
  );
  const table = (await errand(workspace, ['spend', '--by', 'day'])).stdout.trim().split('\n');
  const net = (line = ''): number => Number((line.match(/-?\$[\d.]+/g) ?? [])[4]?.replace('$', ''));
  const lines = table.filter((line) => / wallet /.test(line));
  expect(lines).toHaveLength(3);
  expect(net(lines[0]) + net(lines[1])).toBeCloseTo(net(lines[2]), 5);
  expect(lines[2]).toMatch(/^total +wallet/);
});

test('hostile metadata is shown, and obeyed nowhere', async () => {
  const table = await errand(workspace, ['spend', '--by', 'metadata.team']);
  expect(table.stdout).not.toMatch(/\u001b|\u202e/);
  expect((await rows('--by', 'metadata.team')).map(({ group }) => group)).toContain(hostile);
  const file = join(workspace.folder, 'team.html');
  expect(await errand(workspace, ['spend', '--by', 'metadata.team', '--html', file])).toMatchObject({
    code: 0,
  });
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('&lt;script&gt;alert(1)');
  expect(page).not.toMatch(/<script|\u001b|\u202e/);
  expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/);
  expect(page).not.toMatch(/(?:src|href)=/);
});

test('a page is written whole or not at all, and over nothing unasked', async () => {
  const file = join(workspace.folder, 'spend.html');
  writeFileSync(file, 'mine');
  const refused = await errand(workspace, ['spend', '--html', file]);
  expect([refused.code, refused.stdout, refused.stderr]).toEqual([
    2,
    '',
    `error: ${file} already exists; use --force to overwrite it\n`,
  ]);
  const unreachable = await errand(
    {
      ...workspace,
      environment: {
        ...workspace.environment,
        ERRAND_BASE_URL: 'http://127.0.0.1:9',
        ERRAND_API_KEY: 'xx_test_0123456789abcdef',
      },
    },
    ['spend', '--html', file, '--force', '--retries', '0'],
  );
  expect(unreachable.code).toBe(9);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(await errand(workspace, ['spend', '--html', file, '--force'])).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toMatch(/<\/html>\n$/);
  const nowhere = await errand(workspace, ['spend', '--html', join(workspace.folder, 'none', 'a.html')]);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('its folder is not there')]);
});

test.each([
  [
    ['--by', 'retialer'],
    '--by takes day, month, retailer, country, po, account or metadata.KEY, not "retialer"; did you mean retailer?',
  ],
  [['--by', 'metadata.'], '--by takes day'],
  [['--time-zone', 'Mars/Base'], '--time-zone takes a zone such as America/Chicago, not "Mars/Base"'],
  [['--since', '2026-13'], '--since: there is no 2026-13'],
  [['--force'], '--force goes with --html'],
  [['--html', '-'], '--html takes the name of a file, such as page.html, not -'],
])('%j is refused before anything is read', async (args, message) => {
  const refused = await errand(workspace, ['spend', ...args]);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(message);
});

test('all pages are read', async () => {
  const key = await service.mint();
  const made = 510;
  for (let at = 0; at < made; at += 20) {
    const some = Array.from({ length: Math.min(20, made - at) }, () =>
      service.order('test-cancelled-by-retailer', { max_price: 2000 }, key),
    );
    await Promise.all(some);
    service.pass(60 * 1000);
  }
  const held = { ...workspace, environment: { ...workspace.environment, ERRAND_API_KEY: key } };
  const { stdout } = await errand(held, ['spend', '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject([
    { orders: made, spent_cents: made * 1999, refunded_cents: made * 1999, net_cents: made * 100 },
  ]);
});

test('agent orders, which the service does not list, are told with what was paid', async () => {
  const alone = makeWorkspace();
  const products = JSON.parse((await errand(alone, ['sandbox', 'products', '-o', 'json'])).stdout);
  const made = await errand(alone, [
    ...['agent', 'order', 'create', '--product', products[0].url, '--max-price', '$50', '--ship-to', 'home'],
    ...['--yes', '-o', 'id'],
  ]);
  expect(made).toMatchObject({ code: 0 });
  for (const args of [['spend'], ['spend', 'export', '--as', 'hledger']])
    expect((await errand(alone, args)).stderr).toMatch(
      /not included: 1 agent order of this machine, \$5\d\.\d\d paid up front; the service does not list them/,
    );
  expect((await errand(alone, ['spend', '--until', '2000-01-01'])).stderr).not.toContain('not included');
  alone.remove();
});
