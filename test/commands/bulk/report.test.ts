import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const minute = 60 * 1000;
const opening = 100_000;
const hostile = '\u001b[31m=HYPERLINK("x")</td><script>alert(1)</script>\u202e';
const headings =
  'my_reference,product_url,max_price_cents,name,address,city,state,zip,phone,metadata.team,account';
/** Product slug, team and paying account of each row. */
const orders = [
  ['test-success', 'office', ''],
  ['test-price-exceeded', 'office', ''],
  ['test-out-of-stock', 'lab', ''],
  ['test-cancelled-by-retailer', 'lab', ''],
  ['test-undeliverable', '', ''],
  ['test-success', 'lab', 'account'],
  ['test-success', 'lab', ''],
  ['test-never', 'office', ''],
] as const;

let service: TestService;
let workspace: Workspace;
/** The upload, and the retry of what failed in it. */
let batches: readonly [string, string];

const run = (...args: string[]) => errand(workspace, args);
interface Row {
  readonly own: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}
const report = async (...args: string[]): Promise<Row[]> => {
  const { code, stdout, stderr } = await run('bulk', 'report', ...batches, ...args, '-o', 'json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};
const sum = (rows: readonly Row[], name: string): number =>
  rows.reduce((total, row) => total + Number(row[name]), 0);
const walletNow = async () => (await service.send('GET', '/wallet/me')).body;

async function place(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args, '-o', 'id');
  expect(code, stderr).toBe(0);
  service.pass(minute);
  return stdout.trim();
}

/** Uploads rows with every outcome, retries the failed ones, and has a return credited. */
beforeAll(async () => {
  service = await TestService.start({ now: Date.parse('2026-11-30T20:00:00Z') });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  const account = (await service.send('POST', '/managed-accounts', { email: 'a@example.com', password: 'x' }))
    .body.short_id;
  const rows = orders.map(([slug, team, payer], at) => {
    const reference = at === 4 ? hostile : `A-${at}`;
    return [
      ...[`"${reference.replaceAll('"', '""')}"`, service.product(slug), 5005, 'Ada Byron', `${at} Main St`],
      ...['Austin', 'TX', 78701, 5125550100, team, payer === '' ? '' : account],
    ].join(',');
  });
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  const first = await place('bulk', 'upload', 'orders.csv');
  const statusOf = async () => (await service.send('GET', `/orders/bulk/${first}`)).body.status;
  await vi.waitFor(async () => expect(await statusOf()).toBe('completed'), hangsAfterMs);
  service.pass(24 * 60 * minute);
  batches = [first, await place('bulk', 'retry', first)];
  const last = (await report()).find(({ own }) => own.my_reference === 'A-6');
  const order = (await service.send('GET', `/orders/${last?.order_id}`)).body;
  const items = [{ order_item_id: order.items[0].id, quantity: 1 }];
  await service.send('POST', '/returns', { order_id: order.id, items, reason: 'not_delivered' });
  service.pass(60 * minute);
});
afterAll(async () => {
  workspace.remove();
  await service.stop();
});

describe('bulk report', () => {
  test('has one line for each row of the file, its latest attempt and the amounts of all', async () => {
    const rows = await report();
    expect(rows.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    const [bought, refused, out, cancelled, lost, byAccount, returned, open] = rows;
    expect(bought).toMatchObject({
      order_state: 'delivered',
      attempts: 1,
      charged_cents: 1999,
      fee_cents: 100,
    });
    expect(refused).toMatchObject({
      ...{ order_state: 'failed: price', attempts: 2, charged_cents: null, from_wallet_cents: null },
      ...{ error_type: 'max_price_exceeded', orders: [expect.any(String), expect.any(String)] },
    });
    expect(Number(refused?.quoted_cents)).toBeGreaterThan(5005);
    expect(out).toMatchObject({ order_state: 'failed: out of stock', quoted_cents: null });
    expect(cancelled).toMatchObject({
      ...{ order_state: 'cancelled by retailer', attempts: 2, quoted_cents: null },
      ...{ charged_cents: 3998, refunded_cents: 3998, fee_cents: 200, from_wallet_cents: 200 },
    });
    expect(lost).toMatchObject({ order_state: 'undeliverable', own: { my_reference: hostile } });
    expect(byAccount).toMatchObject({
      ...{ paid_by: 'retailer_account', charged_cents: 1999, fee_cents: 100, from_wallet_cents: 100 },
    });
    expect(returned).toMatchObject({ credited_cents: 1999, from_wallet_cents: 100 });
    expect(open).toMatchObject({ order_state: 'in progress', held_cents: 5105, from_wallet_cents: 0 });
  });

  test.each([
    'row',
    'retailer',
    'state',
    'reason',
    'day',
    'metadata.team',
    'my_reference',
    'Address',
    'column.state',
  ])('by %s what it comes to is what has left the wallet, to the cent', async (by) => {
    const wallet = await walletNow();
    const rows = by === 'row' ? await report() : await report('--by', by);
    const ofWallet = by === 'row' ? rows : rows.filter(({ paid_by }) => paid_by === 'wallet');
    expect(opening - sum(ofWallet, by === 'row' ? 'from_wallet_cents' : 'net_cents')).toBe(wallet.balance);
    expect(sum(ofWallet, 'held_cents')).toBe(wallet.balance - wallet.spendable_balance);
    if (by === 'row') return;
    expect(sum(rows, 'rows')).toBe(orders.length);
    for (const row of rows) {
      expect(Number(row.ordered) + Number(row.refused) + Number(row.waiting)).toBe(row.rows);
      const [charged = 0, fees = 0, refunded = 0, credited = 0] = [
        'charged',
        'fees',
        'refunded',
        'credited',
      ].map((name) => Number(row[`${name}_cents`]));
      expect(charged + fees - refunded - credited).toBe(row.net_cents);
    }
  });

  test('groups by what was asked for', async () => {
    const teams = await report('--by', 'metadata.team');
    expect(new Set(teams.map(({ group }) => group))).toEqual(new Set(['office', 'lab', null]));
    expect((await report('--by', 'state')).map(({ group }) => group)).toContain('cancelled by retailer');
    expect((await report('--by', 'column.state')).map(({ group }) => group)).toEqual(['TX', 'TX']);
    const days = (await report('--by', 'day')).filter(({ paid_by }) => paid_by === 'wallet');
    expect(days.map(({ group, rows }) => [group, rows])).toEqual([
      ['2026-11-30', 4],
      ['2026-12-01', 3],
    ]);
    expect(
      (await report('--by', 'day', '--time-zone', 'Pacific/Kiritimati')).map(({ group }) => group),
    ).toContain('2026-12-02');
  });

  test('an upload is reported by its name, with what was tried again', async () => {
    const byName = await run('bulk', 'report', 'orders', '-o', 'json');
    expect(JSON.parse(byName.stdout)).toEqual(await report());
    const unknown = await run('bulk', 'report', 'orderz');
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain('"orderz" is neither the name of an upload here nor the id of a batch');
  });

  test('its totals add up on one screen, and agree with those of spend', async () => {
    const { stderr } = await run('bulk', 'report', ...batches);
    expect(stderr).toContain('8 rows: 8 ordered; 3 tried more than once\n');
    const states = /^8 orders: (.*)$/m.exec(stderr)?.[1] ?? '';
    expect([...states.matchAll(/(\d+) /g)].reduce((total, [, count]) => total + Number(count), 0)).toBe(8);
    expect(stderr).toContain('3 failed: 1 max_price_exceeded, 1 out_of_stock, 1 cancelled_by_retailer\n');
    expect(stderr).toContain('1 withdrawn: 1 returned\n');
    const line =
      /^charged \$([\d.]+) \+ fees \$([\d.]+)\* - refunded \$([\d.]+)\* - credited \$([\d.]+) = \$([\d.]+) from the wallet$/m;
    const cents = (line.exec(stderr) ?? []).slice(1).map((text) => Math.round(Number(text) * 100));
    const [spent] = JSON.parse((await run('spend', '--by', 'country', '-o', 'json')).stdout);
    expect(cents).toEqual(
      ['spent', 'fees', 'refunded', 'credited', 'net'].map((name) => spent[`${name}_cents`]),
    );
    expect(stderr).toContain('charged $19.99 = $19.99 from retailer account');
    expect(stderr).toContain('$51.05 still held for orders that go on');
    expect(stderr).toContain('* by rule');
  });

  test('as CSV has all columns of the file, and cells that a spreadsheet would run are prefixed', async () => {
    const { stdout } = await run('bulk', 'report', ...batches, '-o', 'csv');
    expect(stdout.startsWith(`${headings},row,order_state,order_id,`)).toBe(true);
    const rows = parse(stdout, { columns: true }) as Record<string, string>[];
    expect(rows.map(({ row }) => row)).toEqual(['2', '3', '4', '5', '6', '7', '8', '9']);
    expect(rows[3]).toMatchObject({ my_reference: 'A-3', charged_cents: '3998', refunded_cents: '3998' });
    const ids = (await run('bulk', 'report', ...batches, '-o', 'id')).stdout.trim().split('\n');
    expect(ids).toEqual(rows.map(({ order_id: id }) => id));
    const fields = await run(
      'bulk',
      'report',
      ...batches,
      '-o',
      'csv',
      '--fields',
      'my_reference,quoted_cents',
    );
    expect(fields.stdout.split('\n').slice(0, 2)).toEqual(['my_reference,quoted_cents', 'A-0,']);
  });

  test.each([50, 80, 120])('fits a terminal of %i columns, with the state of every row', async (columns) => {
    const terminal = new Terminal(workspace, 'errand', ['bulk', 'report', ...batches], { columns });
    try {
      expect(await terminal.ended()).toBe(0);
      const { text } = terminal;
      // Skip the redrawn progress bar; a suggested command is never wrapped.
      const lines = text.slice(text.indexOf('ROW ')).split('\n');
      for (const line of lines.filter((one) => !one.includes('errand bulk retry')))
        expect(line.trimEnd().length).toBeLessThanOrEqual(columns);
      expect(text).toMatch(/ROW +STATE/);
      expect(text).toMatch(/^ +2 +✔ delivered/m);
      expect(text).toMatch(/^ +5 +✖ cancelled/m);
      if (columns > 50) expect(text).toContain('A-3');
      expect(text).not.toMatch(/\u202e/);
    } finally {
      terminal.close();
    }
  });

  test('writes a page without names, streets or anything that runs', async () => {
    const file = join(workspace.folder, 'report.html');
    const { code, stderr } = await run('bulk', 'report', ...batches, '--by', 'metadata.team', '--html', file);
    expect(code, stderr).toBe(0);
    const page = readFileSync(file, 'utf8');
    expect(page).toContain('cancelled by retailer');
    expect(page).toContain('A-3');
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).not.toMatch(/<script|\u001b|\u202e|Main St|Byron|(?:src|href)=/);
    expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'/);
    expect(page).toMatch(/<\/html>\n$/);
    const again = await run('bulk', 'report', ...batches, '--html', file);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('use --force to overwrite it')]);
  });

  test('the page takes failures of one kind together, whatever their amounts, and says what to do', async () => {
    const rows = [6005, 7005].map(
      (cents) =>
        `P-${cents},${service.product('test-price-exceeded')},${cents},Ada Byron,9 Main St,Austin,TX,78701,5125550100,,`,
    );
    writeFileSync(join(workspace.folder, 'prices.csv'), [headings, ...rows, ''].join('\n'));
    const id = await place('bulk', 'upload', 'prices.csv');
    service.pass(60 * minute);
    const file = join(workspace.folder, 'prices.html');
    expect((await run('bulk', 'report', id, '--html', file)).code).toBe(0);
    const page = readFileSync(file, 'utf8')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');
    expect(page).toContain(
      '2 failed: price The price went over the ceiling; order again with a higher --max-price. 2, 3',
    );
  });

  test('a row that was ordered before is in the report of the upload that ordered it', async () => {
    const rows = readFileSync(join(workspace.folder, 'orders.csv'), 'utf8').split('\n');
    writeFileSync(join(workspace.folder, 'again.csv'), `${rows.slice(0, 4).join('\n')}\n`);
    const again = await place('bulk', 'upload', 'again.csv');
    const alone = JSON.parse((await run('bulk', 'report', again, '-o', 'json')).stdout) as Row[];
    expect(alone.map(({ order_state }) => order_state)).toEqual(['failed: price', 'failed: out of stock']);
    const together = await run('bulk', 'report', batches[0], again, '-o', 'json');
    expect(sum(JSON.parse(together.stdout), 'charged_cents')).toBe(
      sum(JSON.parse((await run('bulk', 'report', batches[0], '-o', 'json')).stdout), 'charged_cents'),
    );
  });

  test('on another machine names rows by their place, with what the service echoes', async () => {
    const elsewhere = makeWorkspace(workspace.environment);
    try {
      elsewhere.environment.ERRAND_STATE_DIR = join(elsewhere.folder, '.state');
      const { code, stdout } = await errand(elsewhere, ['bulk', 'report', batches[0], '-o', 'json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)[0]).toMatchObject({
        ...{ row: null, index: 0, order_state: 'delivered', charged_cents: 1999 },
        own: { recipient: 'Ada Byron', my_reference: 'A-0' },
      });
      expect(existsSync(join(elsewhere.folder, '.state', 'journal.db'))).toBe(false);
    } finally {
      elsewhere.remove();
    }
  });

  test.each([
    [
      ['--by', 'tema'],
      '--by takes retailer, state, reason, day, metadata.KEY or a column of the file, not "tema"',
    ],
    [['--html', '-'], '--html takes the name of a file, such as page.html, not -'],
    [['--force'], '--force goes with --html'],
    [['--time-zone', 'Mars/Base'], '--time-zone takes a zone such as America/Chicago, not "Mars/Base"'],
  ])('%j is refused in one message', async (args, message) => {
    const { code, stdout, stderr } = await run('bulk', 'report', ...batches, ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});
