import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { FaultProxy } from '../../faults/proxy.ts';
import { begin, errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const headings =
  'ref,product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number';

let service: TestService;
let proxy: FaultProxy;
let workspace: Workspace;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  proxy = new FaultProxy(service.baseUrl);
  workspace = makeWorkspace({ ERRAND_BASE_URL: await proxy.start(), ERRAND_API_KEY: service.key });
});
afterEach(async () => {
  await proxy.stop();
  await service.stop();
  workspace.remove();
});

/** Writes a file whose rows order products by slug. */
function write(file: string, slugs: readonly string[], first = 1): void {
  const rows = slugs.map(
    (slug, at) =>
      `R-${first + at},${service.product(slug)},5000,A B,${first + at} Main St,Austin,TX,78701,US,+15125550100`,
  );
  writeFileSync(join(workspace.folder, file), `${[headings, ...rows].join('\n')}\n`);
}

const bulk = (...args: string[]): Promise<Finished> => errand(workspace, ['bulk', ...args]);

const json = async (...args: string[]) => JSON.parse((await bulk(...args, '-o', 'json')).stdout);

/** All orders at the service. */
async function orders(): Promise<{ status: string; shipping_address: { address_line1: string } }[]> {
  service.pass(60_000);
  return (await service.send('GET', '/orders?limit=500')).body.orders;
}

/** Advances the service's clock while a command waits. */
async function meanwhile<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => service.pass(5_000), 50);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

const ten = Array.from({ length: 10 }, () => 'test-success');

describe('an upload has a name', () => {
  test('that of its file, and it stands for all its batches', async () => {
    write('december.csv', ['test-success', 'test-out-of-stock', 'test-success']);
    const { stderr } = await bulk('upload', 'december.csv', '--batch-size', '1');
    expect(stderr).toMatch(/^follow: errand bulk watch december$/m);
    const [{ batches, ...upload }] = await json('uploads');
    expect(upload).toMatchObject({ name: 'december', state: 'sent', rows: 3, sent: 3, file: 'december.csv' });
    expect(batches).toHaveLength(3);
    const watched = await meanwhile(bulk('watch', 'december'));
    for (const id of batches) expect(watched.stdout).toContain(id);
    expect(watched.stderr).toMatch(/^3 rows: 3 ordered/m);
    expect(watched.stderr).toMatch(/^try again: errand bulk retry december$/m);
    expect((await bulk('get', 'december', '-o', 'id')).stdout.trim().split('\n')).toEqual(batches);
  });

  test('another file of the same name has a number behind it; the same rows keep their name', async () => {
    write('orders.csv', ['test-success']);
    await bulk('upload', 'orders.csv');
    mkdirSync(join(workspace.folder, 'next'));
    write('next/orders.csv', ['test-success'], 2);
    const other = await bulk('upload', 'next/orders.csv');
    expect(other.stderr).toContain(
      'this upload is called orders-2, since an earlier upload has the name orders',
    );
    renameSync(join(workspace.folder, 'orders.csv'), join(workspace.folder, 'renamed.csv'));
    expect((await bulk('upload', 'renamed.csv')).stderr).toMatch(/^follow: errand bulk watch orders$/m);
    const named = await bulk('upload', 'renamed.csv', '--name', 'january');
    expect(named.stderr).toContain('these rows were uploaded before, as orders');
    const taken = await bulk('upload', 'next/orders.csv', '--run', 'again', '--name', 'orders');
    expect(taken).toMatchObject({ code: 2, stdout: '' });
    expect(taken.stderr).toContain('--name orders: that upload has other rows; orders-3 is free');
    expect(await orders()).toHaveLength(2);
  });

  test('keys of the file, however they are headed, tell its rows from others', async () => {
    for (const [file, at] of [
      ['one.csv', 1],
      ['two.csv', 2],
    ] as const) {
      write(file, ['test-success'], at);
      const path = join(workspace.folder, file);
      const [head, row] = readFileSync(path, 'utf8').split('\n');
      writeFileSync(path, `${head},Idempotency Key\n${row},key-${at}\n`);
      expect((await bulk('upload', file)).code).toBe(0);
    }
    expect((await json('uploads')).map(({ name }: { name: string }) => name)).toEqual(['two', 'one']);
    expect(await orders()).toHaveLength(2);
  });

  test.each(['a b', '@1', '-x', '00000000-0000-4000-8000-000000000001', 'x'.repeat(61), '', '../x'])(
    '--name %j is refused before anything is sent',
    async (name) => {
      write('orders.csv', ['test-success']);
      const { code, stderr } = await bulk('upload', 'orders.csv', `--name=${name}`);
      expect(code).toBe(2);
      expect(stderr).toContain('--name');
      expect(await orders()).toEqual([]);
    },
  );

  test('names of other accounts and services are not seen', async () => {
    write('orders.csv', ['test-success']);
    await bulk('upload', 'orders.csv');
    workspace.environment.ERRAND_API_KEY = await service.mint();
    expect(await json('uploads')).toEqual([]);
    expect((await bulk('get', 'orders')).code).toBe(2);
  });

  test('a word that names nothing is told from a name that is near', async () => {
    write('december.csv', ['test-success']);
    await bulk('upload', 'december.csv');
    const { code, stderr } = await bulk('watch', 'decembr');
    expect(code).toBe(2);
    expect(stderr).toContain('"decembr" is neither the name of an upload here nor the id of a batch');
    expect(stderr).toContain('Did you mean december?');
  });
});

describe('a retry joins its upload', () => {
  test('of each row the latest attempt counts, and none is ordered twice', async () => {
    write('december.csv', ['test-success', 'test-price-exceeded', 'test-success', 'test-out-of-stock']);
    await meanwhile(bulk('upload', 'december.csv', '--batch-size', '2', '--watch'));
    const raise = ['--reason', 'max_price_exceeded', '--raise-ceiling', '100%'];
    const retried = await meanwhile(bulk('retry', 'december', ...raise, '--watch'));
    expect(retried.stderr).toMatch(/^4 rows: 4 ordered/m);
    expect(retried.stderr).toMatch(/^4 orders: 2 placed, 2 failed$/m);
    expect(retried.code).toBe(7);
    expect(await json('uploads')).toMatchObject([{ name: 'december', rows: 4, sent: 4 }]);
    const rest = await meanwhile(bulk('retry', 'december', '--to', '-'));
    expect(rest.stdout).toMatch(/^ref,.*\nR-4,.*\nR-2,.*\n$/);
    expect(await orders()).toHaveLength(5);
  });

  test('what somebody cancelled is left out without --again', async () => {
    write('december.csv', ['test-slow', 'test-out-of-stock']);
    await bulk('upload', 'december.csv');
    service.pass(3_000);
    const [batch] = (await json('uploads'))[0].batches;
    const [row] = (await service.send('GET', `/orders/bulk/${batch}`)).body.rows;
    expect((await errand(workspace, ['order', 'cancel', row.order_id])).code).toBe(0);
    const watched = await meanwhile(bulk('watch', 'december'));
    expect(watched.stderr).toMatch(/^1 failed: 1 out_of_stock$/m);
    expect(watched.stderr).toMatch(/^1 withdrawn: 1 cancelled$/m);
    const { stderr } = await meanwhile(bulk('retry', 'december', '--watch'));
    expect(stderr).toContain('1 withdrawn row left out (1 cancelled); --again takes it, too');
    expect(await orders()).toHaveLength(3);
    const asked = await bulk('retry', 'december', '--reason', 'cancelled', '--again', '--dry-run');
    expect(JSON.parse(asked.stdout).body.rows).toMatchObject([{ ref: 'R-1' }]);
  });

  test('a row that was corrected and uploaded as another file is not tried again', async () => {
    write('december.csv', ['test-out-of-stock', 'test-success']);
    await meanwhile(bulk('upload', 'december.csv', '--watch'));
    await bulk('retry', 'december', '--to', 'failed.csv');
    const file = join(workspace.folder, 'failed.csv');
    writeFileSync(file, readFileSync(file, 'utf8').replace('test-out-of-stock', 'test-success'));
    await meanwhile(bulk('upload', 'failed.csv', '--watch'));
    const before = (await orders()).length;
    await meanwhile(bulk('retry', 'december', '--watch'));
    expect(await orders()).toHaveLength(before);
    const watched = await meanwhile(bulk('watch', 'december'));
    expect(watched.code, watched.stderr).toBe(0);
    expect(watched.stderr).not.toContain('try again');
    expect(await json('report', 'december')).toMatchObject([
      { row: 2, order_state: 'delivered' },
      { row: 3, order_state: 'delivered' },
    ]);
  });

  test('--force without --to is refused', async () => {
    write('december.csv', ['test-out-of-stock']);
    await meanwhile(bulk('upload', 'december.csv', '--watch'));
    const { code, stderr } = await bulk('retry', 'december', '--force');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--force goes with --to')]);
    expect(await orders()).toHaveLength(1);
  });

  test('a batch that is retried by its id joins too', async () => {
    write('december.csv', ['test-out-of-stock', 'test-success']);
    await meanwhile(bulk('upload', 'december.csv', '--batch-size', '1', '--watch'));
    const [{ batches }] = await json('uploads');
    await bulk('retry', batches[0]);
    expect(await json('uploads')).toMatchObject([{ name: 'december', rows: 2, sent: 2 }]);
    expect((await json('uploads'))[0].batches).toHaveLength(3);
  });
});

test('a retry whose response got lost is told wherever its upload is asked for', async () => {
  write('december.csv', ['test-out-of-stock', 'test-success']);
  await meanwhile(bulk('upload', 'december.csv', '--watch'));
  const child = begin(workspace, 'errand', ['bulk', 'retry', 'december']);
  proxy.onMoment = (moment) => void (moment === 'work-done' && child.kill('SIGKILL'));
  await new Promise((resolve) => child.once('close', resolve));
  proxy.onMoment = () => {};
  expect(await json('uploads')).toMatchObject([{ state: 'in doubt', rows: 2, sent: 2 }]);
  const said = 'december: a retry of it was sent, and no response came';
  const watched = await bulk('watch', 'december');
  expect(watched.stderr).toContain(said);
  expect(watched.stderr).toMatch(/^go on: errand bulk resume december$/m);
  expect(watched.stderr).not.toContain('try again');
  const other = await bulk('retry', 'december', '--raise-ceiling', '$5');
  expect(other).toMatchObject({ code: 10, stdout: '' });
  expect(other.stderr).toContain('a batch of december was sent, and no response came');
  const resumed = await bulk('resume', 'december');
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toContain('a batch of december that was in doubt is settled');
  expect(await json('uploads')).toMatchObject([{ state: 'sent' }]);
  expect(await orders()).toHaveLength(3);
});

describe('an upload that was cut short', () => {
  /** Uploads ten rows individually and is killed after the nth create has reached `moment`. */
  async function cutShort(after: number, moment: 'request-came' | 'work-done' | 'responded'): Promise<void> {
    write('december.csv', ten);
    return killed(after, moment);
  }

  async function killed(after: number, moment: string, ...flags: string[]): Promise<void> {
    const upload = ['bulk', 'upload', 'december.csv', '--batch-size', '1', ...flags];
    const child = begin(workspace, 'errand', upload);
    let seen = 0;
    proxy.onMoment = (now) => {
      if (now === moment && ++seen === after) child.kill('SIGKILL');
    };
    await new Promise((resolve) => child.once('close', resolve));
    proxy.onMoment = () => {};
  }

  test.each([
    [1, 'request-came'],
    [1, 'work-done'],
    [3, 'work-done'],
    [5, 'responded'],
  ] as const)(
    'killed at create %d (%s), it is taken up by its name, from another folder',
    async (after, moment) => {
      await cutShort(after, moment);
      const [upload] = await json('uploads');
      expect(upload).toMatchObject({ name: 'december', rows: 10 });
      expect(upload.sent).toBeLessThan(10);
      const watched = await meanwhile(bulk('watch', 'december'));
      expect([4, 7, 10]).toContain(watched.code);
      expect(watched.stderr).toContain('errand bulk resume december');
      const elsewhere = join(workspace.folder, 'elsewhere');
      mkdirSync(elsewhere);
      const there = { ...workspace, folder: elsewhere };
      const resumed = await meanwhile(errand(there, ['bulk', 'resume', 'december', '--watch']));
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(resumed.stderr).toMatch(/^10 rows: 10 ordered/m);
      const streets = (await orders()).map((order) => order.shipping_address.address_line1);
      expect(streets.toSorted()).toEqual(ten.map((_, at) => `${at + 1} Main St`).toSorted());
      expect(await json('uploads')).toMatchObject([{ state: 'sent', sent: 10 }]);
      const again = await bulk('resume', 'december');
      expect(again).toMatchObject({ code: 0, stdout: '' });
      expect(again.stderr).toContain('all of december is at the service; nothing was sent');
    },
  );

  test('killed at a random moment: each row is an order or has a reason, and the report is what the wallet lost', async () => {
    const balance = async (): Promise<number> =>
      JSON.parse((await errand(workspace, ['wallet', '-o', 'json'])).stdout).balance;
    const before = await balance();
    const slugs = [
      'test-success',
      'test-out-of-stock',
      'test-two-packages',
      'test-price-exceeded',
      'test-success',
    ];
    const rows = Array.from({ length: 18 }, (_, at) => slugs[at % slugs.length] ?? '');
    write('december.csv', rows);
    const seed = Math.random();
    const at = 1 + Math.floor(seed * 8);
    const moment = (['request-came', 'work-done', 'responded'] as const)[Math.floor(seed * 1000) % 3];
    const child = begin(workspace, 'errand', ['bulk', 'upload', 'december.csv', '--batch-size', '2']);
    let seen = 0;
    proxy.onMoment = (now) => void (now === moment && ++seen === at && child.kill('SIGKILL'));
    await new Promise((resolve) => child.once('close', resolve));
    proxy.onMoment = () => {};
    const resumed = await meanwhile(bulk('resume', 'december', '--watch'));
    expect([0, 7], `create ${at} ${moment}\n${resumed.stderr}`).toContain(resumed.code);
    await meanwhile(bulk('retry', 'december', '--reason', 'out_of_stock', '--watch'));
    service.pass(60_000);
    const report: { row: number; order_id: string; reason: string | null; from_wallet_cents: number }[] =
      await json('report', 'december');
    expect(report.map(({ row }) => row)).toEqual(rows.map((_, index) => index + 2));
    expect(report.filter(({ order_id: id, reason }) => !id && !reason)).toEqual([]);
    expect(new Set(report.map(({ order_id: id }) => id)).size).toBe(rows.length);
    const spent = report.reduce((sum, { from_wallet_cents: cents }) => sum + cents, 0);
    expect(spent, `create ${at} ${moment}`).toBe(before - (await balance()));
    expect(spent).toBeGreaterThan(0);
  });

  test('a retry says that rows are not sent yet, and what sends them', async () => {
    await cutShort(2, 'responded');
    const { code, stderr } = await bulk('retry', 'december', '-o', 'json');
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect([code, error.code, error.outcome]).toEqual([5, 'rows_unsent', 'unknown']);
    expect(error.message).toMatch(
      /^december: \d+ of 10 rows are not sent yet or are in doubt, and no other row has failed; nothing was sent$/,
    );
    expect(error.next[0].command).toContain('errand bulk resume december');
    expect((await bulk('resume', 'december')).code).toBe(0);
    const again = await bulk('retry', 'december');
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('no row of december has failed')]);
    expect(await orders()).toHaveLength(10);
  });

  test('two at once place nothing twice', async () => {
    await cutShort(2, 'responded');
    const resume = () => bulk('resume', 'december');
    const both = await Promise.all([resume(), resume()]);
    // Each keeps several batches in flight, so either may find one being placed by the other.
    for (const { code, stderr } of both) expect([0, 5], stderr).toContain(code);
    await bulk('resume', 'december');
    expect(await orders()).toHaveLength(10);
  });

  test("a shop's export is read again as it was, whatever map has that name by then", async () => {
    const shop =
      'Name,Lineitem quantity,Shipping Name,Shipping Address1,Shipping City,Shipping Zip,Shipping Province,Shipping Phone,product_url,max_price';
    const rows = [1, 2, 3, 4].map(
      (at) =>
        `#${at},1,A B,${at} Main St,Austin,'78701,TX,5125550100,${service.product('test-success')},$50.00`,
    );
    writeFileSync(join(workspace.folder, 'december.csv'), `${[shop, ...rows].join('\n')}\n`);
    await killed(2, 'responded', '--use-map', 'shopify');
    writeFileSync(join(workspace.folder, 'x.csv'), 'Other\n');
    await bulk('validate', 'x.csv', '--local', '--map', 'Other=city', '--save-map', 'shopify');
    expect((await json('maps'))[0]).toMatchObject({ name: 'shopify', kind: 'saved' });
    const resumed = await meanwhile(bulk('resume', 'december', '--watch'));
    expect(resumed.code, resumed.stderr).toBe(0);
    const found = await orders();
    expect(found.map((order) => order.shipping_address.address_line1).toSorted()).toEqual(
      [1, 2, 3, 4].map((at) => `${at} Main St`),
    );
  });

  test.each([
    ['with a column that is kept', false],
    ['from before each heading had to be accounted for', true],
  ])('%s, it goes on', async (_, isOld) => {
    const rows = [1, 2, 3, 4].map(
      (at) => `${service.product('test-success')},5000,A B,${at} Main St,Austin,TX,78701,+15125550100,7`,
    );
    const file = join(workspace.folder, 'december.csv');
    const known = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,phone_number';
    writeFileSync(file, `${[`${known},Pieces`, ...rows].join('\n')}\n`);
    await killed(2, 'responded', '--own', 'Pieces');
    if (isOld) {
      const uploads = new (loadSqlite())(join(workspace.folder, '.state', 'uploads.db'));
      uploads.exec(
        "UPDATE uploads SET source = json_set(json_remove(source, '$.table.isAsBefore'), '$.table.map', json('{}'))",
      );
      uploads.close();
    }
    const resumed = await meanwhile(bulk('resume', 'december', '--watch'));
    expect(resumed.code, resumed.stderr).toBe(0);
    const streets = (await orders()).map((order) => order.shipping_address.address_line1);
    expect(streets.toSorted()).toEqual([1, 2, 3, 4].map((at) => `${at} Main St`));
  });

  test('a file that has changed, or has gone, is refused', async () => {
    await cutShort(2, 'responded');
    write('december.csv', [...ten, 'test-success']);
    const changed = await bulk('resume', 'december');
    expect(changed.code).toBe(5);
    expect(changed.stderr).toContain('december.csv has changed since it was uploaded; nothing was sent');
    renameSync(join(workspace.folder, 'december.csv'), join(workspace.folder, 'gone.csv'));
    expect((await bulk('resume', 'december')).stderr).toContain('is no longer there');
  });

  test('one that came through a pipe says what to send again', async () => {
    write('december.csv', ten);
    const upload = ['-c', 'errand bulk upload - --batch-size 1 --name piped < december.csv'];
    const child = begin(workspace, 'bash', upload);
    proxy.faults = ['none', ...Array.from({ length: 60 }, () => '500-before' as const)];
    await new Promise((resolve) => child.once('close', resolve));
    const { code, stderr } = await bulk('resume', 'piped');
    expect(code).toBe(2);
    expect(stderr).toContain('piped came through a pipe: send the same CSV through it again');
    expect(stderr).toContain('errand bulk upload - --batch-size 1');
  });
});
