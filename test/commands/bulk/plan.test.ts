import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Plan } from '../../../src/api/schemas/plan-file.ts';
import { serializePlan } from '../../../src/bulk/plan/file.ts';
import { makeKey } from '../../support/approval-workspace.ts';
import { begin, embeddedShop, errand, type Finished } from '../../support/run.ts';
import { cutOff, errorOf, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const headings =
  'product_url,quantity,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number,metadata.team';

interface RowOf {
  readonly url?: string;
  readonly cents?: number;
  readonly street?: string;
  readonly country?: string;
  readonly team?: string;
}

/** Writes a CSV; rows get distinct addresses unless they specify one. */
function csv(shop: Shopping, rows: readonly RowOf[], name = 'orders.csv'): void {
  const lines = rows.map(
    (
      { url = shop.service.product('test-success'), cents = 5000, street, country = 'US', team = 'blue' },
      index,
    ) =>
      `${url},1,${cents},Ada Byron,${street ?? `${index} Main St`},Austin,TX,78701,${country},5125550100,${team}`,
  );
  writeFileSync(join(shop.workspace.folder, name), [headings, ...lines, ''].join('\n'));
}

const rowsOf = (count: number, row: RowOf = {}): RowOf[] => Array.from({ length: count }, () => row);

const planned = (shop: Shopping, ...more: readonly string[]): Promise<Finished> =>
  shop.run('bulk', 'plan', 'orders.csv', '--out', 'a.plan', ...more);
const applied = (shop: Shopping, ...more: readonly string[]): Promise<Finished> =>
  shop.run('bulk', 'apply', 'a.plan', '-o', 'json', '--retries', '0', ...more);
/** Applies the plan with human-readable output. */
const told = (shop: Shopping, ...more: readonly string[]): Promise<Finished> =>
  shop.run('bulk', 'apply', 'a.plan', ...more);

/** Runs a printed command, parsed as a shell would. */
function follow(shop: Shopping, command: string): Promise<Finished> {
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return shop.run(...words.split('\0').slice(1, -1));
}

const planFile = ({ workspace }: Shopping): string => join(workspace.folder, 'a.plan');
const readPlan = (shop: Shopping): Plan => JSON.parse(readFileSync(planFile(shop), 'utf8'));

/** Writes a modified plan with a valid hash, as an attacker could by hand. */
function forge(shop: Shopping, change: (plan: Plan) => object): void {
  const { sha256: _, ...plan } = { ...readPlan(shop) };
  const changed = { ...plan, ...change(readPlan(shop)) };
  const rows = changed.rows.map(({ checksum: _checksum, ...row }) => row);
  writeFileSync(planFile(shop), Buffer.concat(serializePlan({ ...changed, rows }).chunks));
}

function policy({ workspace }: Shopping, text: string): void {
  mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
  writeFileSync(join(workspace.folder, '.config', 'policy.yaml'), `version: 1\n${text}\n`, { mode: 0o600 });
}

/** The street of every order at the service, one entry per order. */
async function streets(shop: Shopping): Promise<string[]> {
  await expect.poll(async () => (await open(shop)).length).toBe(0);
  const orders = (await shop.service.send('GET', '/orders?limit=500')).body.orders;
  return orders
    .map((order: { shipping_address: { address_line1: string } }) => order.shipping_address.address_line1)
    .toSorted();
}

async function open({ service }: Shopping): Promise<unknown[]> {
  service.pass(60_000);
  const { batches } = (await service.send('GET', '/orders/bulk')).body;
  return batches.filter(({ status }: { status: string }) => status !== 'completed' && status !== 'failed');
}

const mains = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index} Main St`).toSorted();

/** Products with a retailer and a price. */
async function listings(shop: Shopping): Promise<{ url: string; price: number; retailer: string }[]> {
  const search = ['search', 'coffee', '--limit', '20', '-o', 'json', '--fields', 'url,price,retailer'];
  return JSON.parse((await shop.run(...search)).stdout);
}

const nothingOrdered = async (shop: Shopping): Promise<void> => {
  expect((await shop.service.send('GET', '/orders/bulk')).body.batches).toEqual([]);
};

describe('bulk plan', () => {
  test('writes down every order with what is known of it, and orders nothing', async () => {
    const shop = await shopping();
    const [known, dear] = (await listings(shop)).filter(({ retailer }) => !retailer.includes('.'));
    if (!known || !dear) return expect.fail('no listing');
    csv(shop, [
      { url: known.url, cents: known.price + 200 },
      { url: dear.url, cents: dear.price - 1, team: 'red' },
      { street: '9 Elm St' },
      { street: '9 Elm St', cents: 4000 },
    ]);
    const done = await planned(shop);
    expect([done.code, done.stderr], done.stdout).toEqual([0, expect.stringContaining('a.plan: 4 orders')]);
    expect(done.stderr).toContain('look: 1 row above the ceiling today: 3');
    expect(done.stderr).toContain('look: 2 rows of an unknown retailer: 4-5');
    expect(done.stderr).toContain('look: 1 row with a twin: 5');
    expect(statSync(planFile(shop)).mode & 0o777).toBe(0o600);
    await nothingOrdered(shop);
    const plan = readPlan(shop);
    const text = readFileSync(join(shop.workspace.folder, 'orders.csv'));
    expect(plan.file).toMatchObject({ sha256: createHash('sha256').update(text).digest('hex'), rows: 4 });
    expect(plan.rows.map(({ row, price_cents, room_cents }) => [row, price_cents, room_cents])).toEqual([
      [2, known.price, 200],
      [3, dear.price, -1],
      [4, null, null],
      [5, null, null],
    ]);
    expect(plan.rows[3]?.twins).toEqual(['row 4']);
    expect(plan.rows[0]?.retailers).toContain(known.retailer);
    expect(plan.wallet).toMatchObject({
      before_cents: 100_000,
      after_cents: 100_000 - plan.ceilings_cents - 4 * plan.fee_cents,
    });
    expect(plan.totals).toContainEqual(
      expect.objectContaining({
        by: 'metadata.team',
        value: 'red',
        orders: 1,
        ceilings_cents: dear.price - 1,
      }),
    );
    expect(Date.parse(plan.expires_at) - Date.parse(plan.created_at)).toBe(24 * 3600 * 1000);
  });

  test('asks for each URL once, and for no price where none is wanted', async () => {
    const shop = await shopping();
    const [one] = await listings(shop);
    csv(shop, rowsOf(5, { url: one?.url ?? '' }));
    const trace = await planned(shop, '--debug');
    const sent = trace.stderr.match(/GET \S*\/(?:retailers\/check|products\/)\S*/g) ?? [];
    expect([sent.length, new Set(sent).size], sent.join('\n')).toEqual([2, 2]);
    const without = await planned(shop, '--no-prices', '--force', '--debug');
    expect(without.stderr).not.toMatch(/GET \S*\/products\//);
    expect(readPlan(shop).rows[0]?.price_cents).toBeNull();
  });

  test('names a file that is in the way, and writes no half of one', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(1));
    writeFileSync(planFile(shop), 'mine');
    const taken = await planned(shop);
    expect([taken.code, taken.stderr]).toEqual([
      2,
      expect.stringContaining('a.plan already exists; use --force'),
    ]);
    expect(readFileSync(planFile(shop), 'utf8')).toBe('mine');
    for (const [out, what] of [
      ['no/a.plan', 'its folder is not there'],
      ['.', 'is a folder'],
      ['orders.csv/a.plan', 'its folder is a file'],
      ['/dev/null', 'is not a plain file'],
      ['-', '--out names a file'],
    ] as const) {
      const refused = await shop.run('bulk', 'plan', 'orders.csv', '--out', out, '--force');
      expect([refused.code, refused.stderr], out).toEqual([2, expect.stringContaining(what)]);
    }
    const none = await shop.run('bulk', 'plan', 'orders.csv', '--run', 'x');
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining('errand bulk plan orders.csv --out orders.plan --run x'),
    ]);
  });

  test('never takes the place of the file that is planned, whatever leads there', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(1));
    const path = join(shop.workspace.folder, 'orders.csv');
    const before = readFileSync(path, 'utf8');
    symlinkSync(path, join(shop.workspace.folder, 'link'));
    linkSync(path, join(shop.workspace.folder, 'twin'));
    for (const out of ['orders.csv', './orders.csv', 'link', 'twin']) {
      const refused = await shop.run('bulk', 'plan', 'orders.csv', '--out', out, '--force');
      expect([refused.code, refused.stderr], out).toEqual([
        2,
        expect.stringContaining('is the file that is planned'),
      ]);
      expect(readFileSync(join(shop.workspace.folder, out), 'utf8')).toBe(before);
    }
    const shown = await shop.run('bulk', 'show', 'orders.csv', '-o', 'json');
    expect(errorOf(shown).next[0].command).toBe('errand bulk plan orders.csv --out orders.plan');
    expect((await planned(shop)).code).toBe(0);
    const page = await shop.run('bulk', 'show', 'a.plan', '--html', 'a.plan', '--force');
    expect([page.code, page.stderr]).toEqual([2, expect.stringContaining('is the plan itself')]);
    expect((await applied(shop)).code).toBe(0);
  });

  test('is not written of a file with an invalid row, unless that is left out', async () => {
    const shop = await shopping();
    csv(shop, [{}, { country: 'Nowhere' }, {}]);
    const refused = await planned(shop);
    expect([refused.code, existsSync(planFile(shop))], refused.stderr).toEqual([7, false]);
    const left = await planned(shop, '--skip-invalid');
    expect([left.code, left.stderr]).toEqual([0, expect.stringContaining('1 of 3 rows left out as invalid')]);
    expect(readPlan(shop).rows.map(({ row }) => row)).toEqual([2, 4]);
    expect((await shop.run('bulk', 'apply', 'a.plan')).code).toBe(0);
    const report = await shop.run('bulk', 'report', 'orders');
    expect(report.stderr).toContain('orders: 1 row of the file was left out as invalid');
  });

  test('says how the wallet of the embedded sandbox is filled, where it is short', async () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const row = `${await embeddedShop()}test-success,5000,Ada Byron,1 Main St,Austin,TX,78701,5125550100`;
    const headings = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,phone_number';
    writeFileSync(join(workspace.folder, 'orders.csv'), `${headings}\n${row}\n`);
    await errand(workspace, ['sandbox', 'trigger', 'wallet-emptied']);
    const short = await errand(workspace, ['bulk', 'plan', 'orders.csv', '--out', 'a.plan']);
    expect([short.code, short.stderr]).toEqual([6, expect.stringContaining('once the wallet is filled: ')]);
    const [, fill = ''] = /^to fill the sandbox's wallet: errand (.+)$/m.exec(short.stderr) ?? [];
    expect((await errand(workspace, fill.split(' '))).code).toBe(0);
    expect((await errand(workspace, ['bulk', 'apply', 'a.plan'])).code).toBe(0);
  });

  test('is written though the policy refuses rows or the wallet is short, and says so by its exit', async () => {
    const shop = await shopping();
    csv(shop, [{}, { cents: 90_000 }, { cents: 9000 }]);
    const short = await planned(shop);
    expect([short.code, short.stderr]).toEqual([
      6,
      expect.stringContaining('once the wallet is filled: errand'),
    ]);
    expect(readPlan(shop).wallet.after_cents).toBeLessThan(0);
    policy(shop, 'limits:\n  per_order: $500');
    const refused = await planned(shop, '--force');
    expect([refused.code, refused.stderr]).toEqual([11, expect.stringContaining('refused by the policy: 3')]);
    expect(refused.stderr).not.toContain('errand bulk apply');
    expect(readPlan(shop).policy).toMatchObject({ outcome: 'refused', rows: [{ row: 3 }] });
    policy(shop, 'approve: { above: $60 }');
    expect((await planned(shop, '--force')).code).toBe(11);
    expect(readPlan(shop).policy?.outcome).toBe('needs_approval');
  });

  test('knows twins among the orders of this machine, and rows that were sent before', async () => {
    const shop = await shopping();
    csv(shop, [{ street: '1 Elm St' }, { street: '2 Elm St' }]);
    expect((await shop.run('bulk', 'upload', 'orders.csv')).code).toBe(0);
    expect(await streets(shop)).toHaveLength(2);
    csv(shop, [{ street: '2 Elm St' }, { street: '1 Elm St', cents: 5001 }, { street: '3 Elm St' }]);
    const stopped = await planned(shop, '-o', 'json');
    expect([stopped.code, existsSync(planFile(shop))], stopped.stderr).toEqual([5, false]);
    expect(errorOf(stopped)).toMatchObject({ code: 'rows_alike', details: { new: 1, placed: 1, alike: 1 } });
    expect(errorOf(stopped).next[0].command).toContain(
      'bulk plan orders.csv --out a.plan -o json --skip-duplicates',
    );
    const left = await planned(shop, '--skip-duplicates');
    expect([left.code, left.stderr]).toEqual([
      0,
      expect.stringMatching(/^1 new, at most \$51\.00; 1 placed already; 1 left out$/m),
    ]);
    const [placed, alike, fresh] = readPlan(shop).rows;
    expect(placed).toMatchObject({ attempt: null, placed: expect.stringMatching(/^batch [0-9a-f-]{36}$/) });
    expect(alike).toMatchObject({
      attempt: null,
      placed: null,
      left_out: expect.stringMatching(/^like order /),
    });
    expect(fresh).toMatchObject({ attempt: { number: 1 }, placed: null, left_out: null });
    expect(readPlan(shop)).toMatchObject({ orders: 1, most_cents: 5100, ceilings_cents: 5000 });
    expect((await planned(shop, '--run', 'again', '--force')).code).toBe(0);
    for (const { twins } of readPlan(shop).rows.slice(0, 2))
      expect(twins).toEqual([expect.stringMatching(/^order [0-9a-f-]{36} of \d{4}-/)]);
  });
});

describe('bulk show', () => {
  test('prints a plan again, its rows and its totals, also where it is stale or from elsewhere', async () => {
    const shop = await shopping();
    csv(shop, [{ team: 'red' }, {}, {}]);
    expect((await planned(shop)).code).toBe(0);
    const show = (...more: readonly string[]) => shop.run('bulk', 'show', 'a.plan', ...more);
    expect(JSON.parse((await show('--all', '-o', 'json')).stdout)).toHaveLength(3);
    const by = await show('--by', 'metadata.team', '-o', 'csv', '--fields', 'value,orders');
    expect(by.stdout).toBe(
      'value,orders\r\nblue,2\r\nred,1\r\n'.replaceAll('\r', by.stdout.includes('\r') ? '\r' : ''),
    );
    const wrong = await show('--by', 'metadata.teem');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('metadata.team')]);
    shop.later(25 * 3600 * 1000);
    const stale = await show();
    expect([stale.code, stale.stderr]).toEqual([
      0,
      expect.stringContaining('cannot be applied here: it has expired'),
    ]);
    shop.later(0);
    shop.workspace.environment.ERRAND_API_KEY = await shop.service.mint();
    const foreign = await show();
    expect([foreign.code, foreign.stderr]).toEqual([0, expect.stringContaining('for another account')]);
  });

  test('writes one page that needs nothing else, in which text is text', async () => {
    const shop = await shopping();
    csv(shop, [{ team: '<script>alert(1)</script>' }, { team: '</table><img src=x onerror=alert(1)>' }, {}]);
    policy(shop, 'limits:\n  per_order: $500');
    expect((await planned(shop)).code).toBe(0);
    forge(shop, (plan) => ({ file: { ...plan.file, name: '"><script>alert(2)</script>\u202e.csv' } }));
    const write = (...more: readonly string[]) =>
      shop.run('bulk', 'show', 'a.plan', '--html', 'a.html', ...more);
    expect((await write()).stderr).toContain('wrote a.html');
    const page = readFileSync(join(shop.workspace.folder, 'a.html'), 'utf8');
    expect(page).toMatch(
      /<p class="headline">\d+ orders?, at most \$[\d,.]+: a rehearsal, no money moves<\/p>/,
    );
    expect(page).toContain('<h2>Approval</h2>');
    expect(page).toMatch(/<footer>.*SHA-256 of the plan/s);
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<img|<link|<\w[^>]*\s(?:src|href|on\w+)=|\u202e|Main St|Byron/i);
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).toContain('<svg');
    expect(page).toContain('prefers-color-scheme:dark');
    expect(statSync(join(shop.workspace.folder, 'a.html')).mode & 0o777).toBe(0o600);
    const again = await write();
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('use --force to overwrite it')]);
    expect((await write('--force')).code).toBe(0);
    const alone = await shop.run('bulk', 'show', 'a.plan', '--force');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--force goes with --html')]);
  });

  test('names what is not a plan', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(1));
    const refused = async (name: string) => {
      const { code, stderr } = await shop.run('bulk', 'show', name);
      return [code, stderr];
    };
    writeFileSync(join(shop.workspace.folder, 'empty'), '');
    mkdirSync(join(shop.workspace.folder, 'folder'));
    expect(await refused('orders.csv')).toEqual([2, expect.stringContaining('orders.csv is not a plan')]);
    expect(await refused('empty')).toEqual([2, expect.stringContaining('empty is not a plan')]);
    expect(await refused('folder')).toEqual([2, expect.stringContaining('is a folder')]);
    expect(await refused('nothing')).toEqual([2, expect.stringContaining('there is no such file')]);
    expect(await refused('/dev/zero')).toEqual([2, expect.stringContaining('is not a plain file')]);
  });

  test('shows text from another machine without obeying it', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(1));
    expect((await planned(shop)).code).toBe(0);
    const evil = '\u001b[2J\u202eevil\n';
    forge(shop, (plan) => ({
      file: { ...plan.file, name: evil },
      products: plan.products.map((product) => ({ ...product, retailer: evil })),
      totals: plan.totals.map((total) => (total.by === 'retailer' ? { ...total, value: evil } : total)),
      rows: plan.rows.map((row) => ({ ...row, twins: [evil], notes: [evil] })),
    }));
    const shown = await shop.run('bulk', 'show', 'a.plan');
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('evil')]);
    for (const text of [shown.stdout, shown.stderr]) expect(text).not.toMatch(/\u001b|\u202e/);
  });
});

describe('bulk apply', () => {
  test('places exactly what was planned, once, whoever applies it and however often', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(5));
    expect((await planned(shop, '--batch-size', '2')).code).toBe(0);
    const both = await Promise.all([applied(shop), applied(shop)]);
    expect(both.map(({ code }) => code)).toContain(0);
    for (const { code, stderr } of both) expect([0, 5], stderr).toContain(code);
    const repeated = await told(shop);
    expect([repeated.code, repeated.stderr]).toEqual([
      0,
      expect.stringContaining('nothing was ordered again'),
    ]);
    const again = await applied(shop);
    expect(JSON.parse(again.stdout).map(({ existed }: { existed: boolean }) => existed)).toEqual([
      true,
      true,
      true,
    ]);
    expect((await shop.run('bulk', 'upload', 'orders.csv', '--batch-size', '2')).stderr).toContain(
      'nothing was ordered again',
    );
    expect(await streets(shop)).toEqual(mains(5));
    const orders = await shop.orders();
    expect(orders).toHaveLength(5);
  });

  test('a part, then the rest, by rows and by retailer', async () => {
    const shop = await shopping();
    const [listing] = (await listings(shop)).filter(({ retailer }) => !retailer.includes('.'));
    const url = listing?.url ?? '';
    csv(shop, [{}, { url }, {}, { url }, {}]);
    expect((await planned(shop)).code).toBe(0);
    const first = await told(shop, '--only', listing?.retailer ?? '');
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('3 rows of the plan left out')]);
    expect(await streets(shop)).toEqual(['1 Main St', '3 Main St']);
    expect((await applied(shop, '--rows', '2,5')).code).toBe(0);
    expect(await streets(shop)).toEqual(['0 Main St', '1 Main St', '3 Main St']);
    const rest = await told(shop);
    expect([rest.code, rest.stderr]).toEqual([0, expect.stringContaining('2 batches were there already')]);
    expect(rest.stderr).not.toContain('left out');
    expect((await told(shop, '--rows', '6')).stderr).not.toContain('left out');
    expect(await streets(shop)).toEqual(mains(5));
    for (const [args, what] of [
      [['--only', 'nosuch'], 'no row of a.plan is of "nosuch"'],
      [['--rows', '1-2'], 'a.plan has no row 1; it has 2-6, as the file numbers them'],
      [['--rows', '5-7'], 'a.plan has no row 7'],
      [['--rows', '7-9'], 'a.plan has no row 7-9; it has 2-6'],
      [['--rows', 'x'], '--rows: "x" is not a row'],
      [['--rows', '3-2'], '--rows: "3-2" is not a row'],
    ] as const) {
      const wrong = await applied(shop, ...args);
      expect([wrong.code, errorOf(wrong).message], args.join(' ')).toEqual([
        2,
        expect.stringContaining(what),
      ]);
    }
  });

  test('killed in the middle it goes on with the rest', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(6));
    expect((await planned(shop, '--batch-size', '1')).code).toBe(0);
    let made = 0;
    const child = begin(shop.workspace, 'errand', ['bulk', 'apply', 'a.plan']);
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on('close', (_, signal) => resolve(signal)),
    );
    shop.losses.onMoment = (moment) => {
      if (moment !== 'work-done') return;
      made += 1;
      if (made === 3) child.kill('SIGKILL');
    };
    expect(await ended).toBe('SIGKILL');
    shop.losses.onMoment = () => {};
    expect((await streets(shop)).length).toBeLessThan(6);
    const rest = await applied(shop);
    expect(rest.code, rest.stderr).toBe(0);
    expect(await streets(shop)).toEqual(mains(6));
    expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
  });

  test('a batch in doubt is settled, and a part that would settle other rows too is refused', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(3));
    expect((await planned(shop)).code).toBe(0);
    const lost = await cutOff(shop, () => applied(shop));
    expect(lost.code, lost.stderr).toBe(10);
    const part = await applied(shop, '--rows', '2');
    expect([part.code, errorOf(part).message]).toEqual([
      5,
      expect.stringContaining('rows 2-4 were sent together'),
    ]);
    expect((await applied(shop)).code).toBe(0);
    expect(await streets(shop)).toEqual(mains(3));
  });

  test('a plan with a changed byte is refused, and the row is named', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(3));
    expect((await planned(shop)).code).toBe(0);
    const whole = readFileSync(planFile(shop), 'utf8');
    for (const [text, what] of [
      [whole.replace('"max_price":5000', '"max_price":5001'), 'in row 2'],
      [whole.replace('1 Main St', '1 Main Rd'), 'in row 3'],
      [whole.replace('"fee_cents":100', '"fee_cents":1e2'), 'outside its rows'],
      [`${whole} `, 'outside its rows'],
      [whole.replaceAll('\n', '\r\n'), 'altered'],
      [whole.slice(0, -2), 'altered'],
      [` ${whole}`, 'altered'],
    ] as const) {
      writeFileSync(planFile(shop), text);
      const refused = await applied(shop);
      expect([refused.code, errorOf(refused).message], what).toEqual([11, expect.stringContaining(what)]);
      expect(errorOf(refused)).toMatchObject({ code: 'plan_altered', outcome: 'not_sent' });
    }
    await nothingOrdered(shop);
  });

  test('a plan that was made by hand must say in its orders and keys what its cells say', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(2));
    expect((await planned(shop)).code).toBe(0);
    const whole = readFileSync(planFile(shop));
    const first = (change: (row: Plan['rows'][number]) => object) => (plan: Plan) => ({
      rows: plan.rows.map((row, index) => (index === 0 ? { ...row, ...change(row) } : row)),
    });
    for (const [change, code, what] of [
      [first(({ cells }) => ({ cells: cells.with(2, '9000') })), 11, 'row 2: its key does not follow'],
      [first(({ order }) => ({ order: { ...order, max_price: 9000 } })), 11, 'row 2: its order is not what'],
      [first(() => ({ key: 'another' })), 11, 'row 2: its key does not follow'],
      [first(() => ({ row: 3 })), 11, 'row 3: stands out of its order'],
      [first(({ cells }) => ({ cells: cells.with(8, 'Nowhere') })), 11, 'row 2: country'],
      [() => ({ orders: 1 }), 11, 'says of orders what its rows do not'],
      [({ rows }: Plan) => ({ rows: rows.slice(1) }), 11, 'says of orders, ceilings_cents, totals, counts'],
      [() => ({ ceilings_cents: 2610, fee_cents: 1, most_cents: 2670 }), 11, 'ceilings_cents, most_cents'],
      [({ most_cents: most }: Plan) => ({ most_cents: most - 1 }), 11, 'most_cents, wallet'],
      [({ totals }: Plan) => ({ totals: totals.slice(1) }), 11, 'says of totals'],
      [first(() => ({ price_cents: -5, room_cents: 5005 })), 11, 'row 2: its price and its room'],
      [
        ({ wallet, totals }: Plan) => ({
          ...{ fee_cents: 0, most_cents: 10_000 },
          wallet: { ...wallet, after_cents: (wallet.before_cents ?? 0) - 10_000 },
          totals: totals.map((total) => ({ ...total, fees_cents: 0 })),
        }),
        11,
        'the service takes up to $102.00 for what is left, and the plan says at most $100.00',
      ],
      [() => ({ more: 1 }), 2, 'a.plan is not a plan as errand writes it: Unrecognized key'],
      [() => ({ orders: 'many' }), 2, 'orders'],
      [() => ({ plan: 3 }), 2, 'version 3'],
      [first(() => ({ attempt: null })), 11, 'says of orders, ceilings_cents, totals, counts'],
      [
        first(({ attempt }) => ({ attempt: { ...attempt, need: 'x' } })),
        11,
        'row 2: its need does not follow',
      ],
      [() => ({ expires_at: '2999-01-01T00:00:00Z', created_at: '2020-01-01T00:00:00Z' }), 11, 'has expired'],
      [
        () => ({ expires_at: '2999-01-02T00:00:00Z', created_at: '2999-01-01T00:00:00Z' }),
        11,
        'in the future',
      ],
    ] as const) {
      forge(shop, change);
      const refused = await applied(shop);
      expect([refused.code, errorOf(refused).message], what).toEqual([code, expect.stringContaining(what)]);
      writeFileSync(planFile(shop), whole);
    }
    await nothingOrdered(shop);
  });

  test('a plan that is a day old, or of another account or service, is refused with its rows', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(3));
    expect((await planned(shop)).code).toBe(0);
    shop.later(24 * 3600 * 1000);
    const old = await applied(shop, '--rows', '3-4');
    expect([old.code, errorOf(old)]).toEqual([
      11,
      expect.objectContaining({
        code: 'plan_expired',
        message: expect.stringContaining('rows 3-4 not placed'),
      }),
    ]);
    shop.later(0);
    const key = shop.workspace.environment.ERRAND_API_KEY ?? '';
    shop.workspace.environment.ERRAND_API_KEY = await shop.service.mint();
    const account = await applied(shop);
    expect([account.code, errorOf(account)]).toEqual([
      11,
      expect.objectContaining({ code: 'plan_elsewhere', details: expect.objectContaining({ rows: '2-4' }) }),
    ]);
    shop.workspace.environment.ERRAND_API_KEY = key;
    forge(shop, () => ({ profile: 'work' }));
    const profile = await told(shop, '--dry-run');
    expect([profile.code, profile.stderr]).toEqual([0, expect.stringContaining('the profile work')]);
    shop.workspace.environment.ERRAND_BASE_URL = shop.service.baseUrl;
    const service = await applied(shop);
    expect([service.code, errorOf(service).message]).toEqual([
      11,
      expect.stringContaining('for another service'),
    ]);
    await nothingOrdered(shop);
  });

  test('an expired plan is planned again as it was, by the command that it prints, and no row is ordered twice', async () => {
    const shop = await shopping();
    mkdirSync(join(shop.workspace.folder, "year's end"));
    csv(shop, [{ country: 'Nowhere' }, ...rowsOf(3)]);
    const path = join(shop.workspace.folder, "year's end", 'orders.csv');
    const text = readFileSync(join(shop.workspace.folder, 'orders.csv'), 'utf8');
    writeFileSync(
      path,
      text.replace('max_price_cents', 'Limit').replace('name,', 'Ship To,').replaceAll(',5000,', ',50,'),
    );
    const how = ['--run', 'december', '--skip-invalid', '--batch-size', '2', '--amounts', 'units'];
    const maps = ['--map', 'Limit=max_price', '--map', 'Ship To=name'];
    const asked = await shop.run('bulk', 'plan', path, '--out', 'a.plan', ...how, ...maps);
    expect(asked.code, asked.stderr).toBe(0);
    expect((await applied(shop, '--rows', '3-4')).code).toBe(0);
    shop.later(25 * 3600 * 1000);
    const old = await applied(shop);
    expect([old.code, errorOf(old).message]).toEqual([
      11,
      expect.stringContaining('row 5 not placed (rows 3-4 sent before); nothing was sent now'),
    ]);
    expect(errorOf(old).details).toMatchObject({ rows: '5', sent_before: '3-4' });
    const [{ command }] = errorOf(old).next;
    expect(command).toContain(`'year'\\''s end/orders.csv'`);
    const again = await follow(shop, command);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('2 rows sent before')]);
    const rest = await applied(shop);
    expect(rest.code, rest.stderr).toBe(0);
    expect(await streets(shop)).toEqual(['1 Main St', '2 Main St', '3 Main St']);
    shop.later(50 * 3600 * 1000);
    const whole = await told(shop);
    expect([whole.code, whole.stderr]).toEqual([0, expect.stringContaining('nothing was ordered again')]);
  });

  test("an expired plan of a shop's export is planned again with its preset, unless a saved map has that name now", async () => {
    const shop = await shopping();
    csv(shop, rowsOf(2));
    const path = join(shop.workspace.folder, 'orders.csv');
    const text = readFileSync(path, 'utf8').replace('name,', 'Shipping Name,');
    const [first = '', ...rest] = text.trimEnd().split('\n');
    const numbered = [`${first},Name`, ...rest.map((line, at) => `${line},#${at}`)];
    writeFileSync(path, `${numbered.join('\n')}\n`);
    const asked = await shop.run('bulk', 'plan', 'orders.csv', '--out', 'a.plan', '--use-map', 'shopify');
    expect(asked.code, asked.stderr).toBe(0);
    expect((await applied(shop, '--rows', '2')).code).toBe(0);
    shop.later(25 * 3600 * 1000);
    const [{ command }] = errorOf(await applied(shop)).next;
    expect(command).toContain('--use-map shopify');
    const again = await follow(shop, command);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('1 row sent before')]);
    shop.later(50 * 3600 * 1000);
    const map = ['--map', 'Name=metadata.shop', '--save-map', 'shopify'];
    await shop.run('bulk', 'validate', 'orders.csv', '--local', ...map);
    const shadowed = errorOf(await applied(shop));
    expect([shadowed.hint, shadowed.next]).toEqual([
      expect.stringContaining('A saved map has the name of the preset shopify'),
      [],
    ]);
  });

  test('an expired plan whose file has changed, or whose account is another, prints no command that orders anew', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(3));
    expect((await planned(shop)).code).toBe(0);
    expect((await applied(shop, '--rows', '2')).code).toBe(0);
    shop.later(25 * 3600 * 1000);
    csv(shop, rowsOf(3, { cents: 6000 }));
    const changed = errorOf(await applied(shop));
    expect([changed.hint, changed.next]).toEqual([
      expect.stringContaining('orders.csv has changed since it was planned'),
      [],
    ]);
    shop.later(0);
    const { ERRAND_API_KEY: key = '' } = shop.workspace.environment;
    shop.workspace.environment.ERRAND_API_KEY = await shop.service.mint();
    const foreign = errorOf(await applied(shop));
    expect([foreign.code, foreign.next]).toEqual(['plan_elsewhere', []]);
    shop.workspace.environment.ERRAND_API_KEY = key;
  });

  test('a plan of another profile is sent back to it', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(2));
    const { ERRAND_API_KEY: key = '', ERRAND_BASE_URL: at = '' } = shop.workspace.environment;
    for (const name of ['pa', 'pb'])
      expect((await shop.run('profile', 'set', name, '--base-url', at)).code).toBe(0);
    expect((await planned(shop, '--profile', 'pa', '--run', 'x')).code).toBe(0);
    expect((await applied(shop, '--profile', 'pa', '--rows', '2')).code).toBe(0);
    shop.workspace.environment.ERRAND_API_KEY = await shop.service.mint();
    const other = errorOf(await applied(shop, '--profile', 'pb'));
    shop.workspace.environment.ERRAND_API_KEY = key;
    expect([other.code, other.next[0].command]).toEqual([
      'plan_elsewhere',
      'errand bulk apply a.plan --profile pa',
    ]);
    shop.later(25 * 3600 * 1000);
    const old = errorOf(await applied(shop, '--profile', 'pa'));
    expect(old.next[0].command).toBe('errand bulk plan orders.csv --out a.plan --force --run x --profile pa');
    expect((await follow(shop, old.next[0].command)).code).toBe(0);
    expect((await applied(shop, '--profile', 'pa')).code).toBe(0);
    expect(await streets(shop)).toEqual(mains(2));
  });

  test('wallet and policy that have moved against a plan refuse it, naming rows', async () => {
    const shop = await shopping();
    csv(
      shop,
      [1, 2, 3, 4].map((at) => ({ cents: 20_000, street: `${at} Elm St` })),
    );
    expect((await planned(shop)).code).toBe(0);
    policy(shop, 'limits:\n  per_day: $410');
    const refused = await applied(shop);
    expect([refused.code, errorOf(refused).message]).toEqual([
      11,
      expect.stringContaining('row 4, limits.per_day'),
    ]);
    await nothingOrdered(shop);
    policy(shop, 'limits:\n  per_day: $4,000');
    writeFileSync(
      join(shop.workspace.folder, 'order.json'),
      readFileSync(join(shop.workspace.folder, 'order.json'), 'utf8').replace(
        /"max_price":\s*\d+/,
        '"max_price": 50000',
      ),
    );
    expect((await shop.order()).code).toBe(0);
    const short = await applied(shop);
    expect([short.code, errorOf(short).message]).toEqual([
      11,
      expect.stringMatching(/no longer holds: at most \$804\.00.*it does not pay for rows 4-5/),
    ]);
    await nothingOrdered(shop);
    expect((await applied(shop, '--rows', '2-3')).code).toBe(0);
  });

  test('what needs an approval is approved once, for the plan and all its parts', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(4));
    makeKey(shop.workspace, 'ada');
    policy(shop, 'approve: { above: $20 }\napprovers: [ada.pub]');
    writeFileSync(
      join(shop.workspace.folder, '.config', 'ada.pub'),
      readFileSync(join(shop.workspace.folder, 'ada.pub')),
      { mode: 0o600 },
    );
    const asked = await planned(shop);
    expect([asked.code, asked.stderr]).toEqual([11, expect.stringContaining('approve: errand approval')]);
    expect(asked.stderr).toContain('once it is approved: errand bulk apply a.plan');
    const [, id = ''] = /errand approval \w+ ([0-9a-f]+)/.exec(asked.stderr) ?? [];
    const before = await applied(shop);
    expect([before.code, errorOf(before)]).toEqual([
      11,
      expect.objectContaining({ code: 'approval_required' }),
    ]);
    expect(errorOf(before).details.approval.id).toBe(id);
    const approved = await shop.run('approval', 'approve', id, '--key', 'ada');
    expect(approved.code, approved.stderr).toBe(0);
    expect((await applied(shop, '--rows', '2')).code).toBe(0);
    const state = JSON.parse((await shop.run('approval', 'show', id, '-o', 'json')).stdout);
    expect([state.state, state.used_for.length]).toEqual(['approved', 1]);
    csv(shop, rowsOf(5));
    expect((await shop.run('bulk', 'plan', 'orders.csv', '--out', 'b.plan')).code).toBe(11);
    const other = await shop.run('bulk', 'apply', 'b.plan', '-o', 'json');
    expect([other.code, errorOf(other).message], other.stderr).toEqual([
      11,
      expect.stringContaining(`approval ${id} is for another plan`),
    ]);
    expect((await applied(shop, '--rows', '3-4')).code).toBe(0);
    expect((await applied(shop)).code).toBe(0);
    expect(await streets(shop)).toEqual(mains(4));
    const used = JSON.parse((await shop.run('approval', 'show', id, '-o', 'json')).stdout);
    expect([used.state, used.used_for.length]).toEqual(['used', 4]);
    expect((await shop.run('approval', 'list', '-o', 'id')).stdout).not.toContain(id);
  });

  test('parts of a plan count together in the limit of an upload', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(4));
    policy(shop, 'limits:\n  per_batch: $204');
    expect((await planned(shop)).code).toBe(0);
    expect((await applied(shop, '--rows', '2-3')).code).toBe(0);
    policy(shop, 'limits:\n  per_batch: $160');
    const rest = await applied(shop);
    expect([rest.code, errorOf(rest).message]).toEqual([
      11,
      expect.stringContaining('$204.00 is more than $160.00'),
    ]);
    expect(await streets(shop)).toEqual(['0 Main St', '1 Main St']);
  });

  test('a price that is unknown or has risen is a note, and with --recheck-prices a refusal', async () => {
    const shop = await shopping();
    const dearer = await dearerService(shop);
    const [listing] = (await listings(shop)).filter(({ retailer }) => !retailer.includes('.'));
    const { url = '', price = 0 } = listing ?? {};
    csv(shop, [{ url, cents: price + 5000 }, {}, { url, cents: price - 1 }]);
    expect((await planned(shop)).code).toBe(0);
    const unknown = await applied(shop, '--recheck-prices');
    expect([unknown.code, errorOf(unknown).message]).toEqual([
      11,
      expect.stringContaining('row 3: no price is known'),
    ]);
    const above = await applied(shop, '--recheck-prices', '--rows', '4');
    expect([above.code, errorOf(above).message]).toEqual([
      11,
      expect.stringMatching(/row 4: it costs \$\S+ now, and its ceiling is \$/),
    ]);
    dearer.by = 1;
    const risen = await applied(shop, '--recheck-prices', '--rows', '2');
    expect([risen.code, errorOf(risen).message]).toEqual([
      11,
      expect.stringMatching(/row 2: it costs \$\S+ now, and it was/),
    ]);
    await nothingOrdered(shop);
    dearer.by = 0;
    expect((await applied(shop, '--recheck-prices', '--rows', '2')).code).toBe(0);
    const noted = await applied(shop);
    expect([noted.code, noted.stderr]).toEqual([0, expect.stringContaining('row 3 without a known price')]);
  });

  test('is followed to the end, and previewed without being placed', async () => {
    const shop = await shopping();
    csv(shop, rowsOf(2));
    expect((await planned(shop)).code).toBe(0);
    const preview = await shop.run('bulk', 'apply', 'a.plan', '--dry-run');
    expect([preview.code, preview.stdout]).toEqual([0, expect.stringContaining('POST')]);
    await nothingOrdered(shop);
    const child = told(shop, '--watch');
    const timer = setInterval(() => shop.service.pass(5_000), 200);
    onTestFinished(() => clearInterval(timer));
    const watched = await child;
    expect([watched.code, watched.stderr]).toEqual([0, expect.stringContaining('2 rows: 2 ordered')]);
    const link = join(shop.workspace.folder, 'link.plan');
    symlinkSync(planFile(shop), link);
    expect((await shop.run('bulk', 'show', 'link.plan')).code).toBe(0);
  });
});

/** A proxy that raises product prices by `by` cents. */
async function dearerService(shop: Shopping): Promise<{ by: number }> {
  const change = { by: 0 };
  const behind = shop.workspace.environment.ERRAND_BASE_URL ?? '';
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const given = await fetch(`${behind}${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ...(pieces.length > 0 && { body: Buffer.concat(pieces) }),
    });
    const text = await given.text();
    const isProduct = /\/products\/[^s]/.test(request.url ?? '');
    const body = isProduct
      ? text.replace(/"price":(\d+)/, (_match, cents) => `"price":${Number(cents) + change.by}`)
      : text;
    response.writeHead(given.status, { 'content-type': given.headers.get('content-type') ?? '' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  shop.workspace.environment.ERRAND_BASE_URL = `http://127.0.0.1:${Object(server.address()).port}`;
  return change;
}
