import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, onTestFinished, test } from 'vitest';
import { address } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { errorOf, lose, shopping } from '../../support/shopping.ts';
import { beginUploads, headings } from '../../support/uploads.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** Rows that `bulk retry` would send. */
const offered = (stdout: string): number => (stdout === '' ? 0 : JSON.parse(stdout).body.rows.length);

async function corrected(rows: number, failing: number, mended: number, references: readonly string[]) {
  const { workspace, line, write, bulk, ended, jsonOf, live } = await beginUploads();
  // It costs more than the ceiling of the first rows.
  const lines = Array.from({ length: rows }, (_, at) => line(at, 'test-success', at < failing ? 1000 : 5000));
  write('december.csv', lines);
  const uploaded = await bulk('upload', 'december.csv', ...references);
  expect(uploaded.code, uploaded.stderr).toBe(0);
  await ended(rows);
  expect(await live()).toBe(rows - failing);

  write(
    'corrected.csv',
    Array.from({ length: mended }, (_, at) => line(at, 'test-success', 5000)),
  );
  const again = await bulk('upload', 'corrected.csv', ...references);
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain(`${mended} failed before`);
  await ended(rows + mended);
  expect(await live()).toBe(rows - failing + mended);

  const left = failing - mended;
  const report: {
    order_state: string;
    met_by: { upload: string; order_id: string } | null;
    order_id: string;
  }[] = await jsonOf('report', 'december');
  expect(report).toHaveLength(rows);
  expect(report.filter(({ order_state: state }) => state.startsWith('failed'))).toHaveLength(left);
  const met = report.filter(({ met_by: by }) => by !== null);
  expect(met).toHaveLength(mended);
  for (const row of met) expect(row.met_by).toMatchObject({ upload: 'corrected', order_id: row.order_id });
  const shown = await bulk('report', 'december');
  expect(shown.stderr).toContain(`${mended} failed rows were ordered since: ${mended} by corrected`);
  expect(shown.stderr).toContain(`${left} failed: ${left} max_price_exceeded`);

  const results: Record<string, string>[] = parse((await bulk('results', 'december')).stdout, {
    columns: true,
  });
  expect(results.filter((row) => row.met_by === 'corrected')).toHaveLength(mended);
  const watched = await bulk('watch', 'december', '-o', 'ndjson');
  expect(watched.code).toBe(7);
  const summary = JSON.parse(watched.stdout.trim().split('\n').at(-1) ?? '');
  expect(summary).toMatchObject({ rows, failed: left, since: mended, refused: 0 });

  const both: unknown[] = await jsonOf('report', 'december', 'corrected');
  expect(both).toHaveLength(rows);
  expect(offered((await bulk('retry', 'december', '--dry-run')).stdout)).toBe(left);
  expect(offered((await bulk('retry', 'corrected', '--dry-run')).stdout)).toBe(0);
  return { workspace, bulk, ended, live, left };
}

for (const [how, references] of [
  ['their content', []],
  ['their references', ['--reference-column', 'requisition']],
] as const)
  test(`rows that were corrected and sent as a file of their own are met, by ${how}`, async () => {
    const { bulk, ended, live, left } = await corrected(40, 6, 2, references);
    const before = await live();
    const raised = ['--raise-ceiling', '$900', '--yes'];
    const retried = await bulk('retry', 'december', ...raised);
    expect(retried.code, retried.stderr).toBe(0);
    await ended(42 + left);
    expect(await live()).toBe(before + left);
    const last = await bulk('retry', 'december', ...raised);
    expect(last.code, last.stderr).toBe(0);
    expect(last.stderr).toContain('no row of december is left to retry');
    expect((await bulk('watch', 'december')).code).toBe(0);
    await bulk('upload', 'december.csv', ...references);
    expect(await live()).toBe(before + left);
  });

/** What each command says of an upload: failed rows, and rows that were ordered since. */
async function said(bulk: Awaited<ReturnType<typeof beginUploads>>['bulk'], name: string) {
  const report: { order_state: string; met_by: object | null }[] = JSON.parse(
    (await bulk('report', name, '-o', 'json')).stdout,
  );
  const watched = await bulk('watch', name, '-o', 'ndjson');
  const { failed, since } = JSON.parse(watched.stdout.trim().split('\n').at(-1) ?? '');
  const isFailed = ({ order_state: state }: { order_state: string }): boolean => /^failed/.test(state);
  return {
    report: [report.filter(isFailed).length, report.filter(({ met_by: by }) => by !== null).length],
    watch: [failed, since],
    retry: offered((await bulk('retry', name, '--dry-run')).stdout),
  };
}

test('a row that somebody ordered by hand is met', async () => {
  const { workspace, service, line, write, bulk, ended, jsonOf, live } = await beginUploads();
  write('december.csv', [line(0, 'test-success', 1000), line(1, 'test-success', 1000)]);
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  await ended(2);
  const address = {
    ...{ first_name: 'ADA', last_name: 'Byron', address_line1: '0 main st', city: 'Austin', state: 'TX' },
    ...{ postal_code: '78701', country: 'US', phone_number: '(512) 555-0199' },
  };
  const products = [{ url: `${service.product('test-success')}?utm_source=mail` }];
  const order = { products, max_price: 6000, shipping_address: address };
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(order));
  const made = await errand(workspace, ['order', 'create', '--file', 'order.json', '-o', 'id']);
  expect(made.code, made.stderr).toBe(0);
  await ended(3);
  expect(await said(bulk, 'december')).toEqual({ report: [1, 1], watch: [1, 1], retry: 1 });
  const [first] = await jsonOf('report', 'december');
  expect(first.met_by).toEqual({ order_id: made.stdout.trim(), upload: null, batch_id: null, index: null });
  expect((await bulk('watch', 'december')).stderr).toContain(
    `1 failed row was ordered since: 1 by the single order ${made.stdout.trim()}`,
  );
  const retried = await bulk('retry', 'december', '--raise-ceiling', '$50');
  expect(retried.code, retried.stderr).toBe(0);
  const again = await bulk('retry', 'december', '--raise-ceiling', '$50');
  expect(again.stderr).toContain('no row of december is left to retry');
  await ended(4);
  expect(await live()).toBe(2);
});

test('a row of a retry file that somebody ordered by hand meanwhile is not ordered again', async () => {
  const { workspace, service, line, write, bulk, ended, live } = await beginUploads();
  write('december.csv', [line(0, 'test-success', 1000), line(1, 'test-success', 1000)]);
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  await ended(2);
  const kept = await bulk('retry', 'december', '--to', 'failed.csv', '--raise-ceiling', '$50');
  expect(kept.code, kept.stderr).toBe(0);
  const order = {
    products: [{ url: service.product('test-success') }],
    max_price: 6000,
    shipping_address: {
      ...{ first_name: 'Ada', last_name: 'Byron', address_line1: '0 Main St', city: 'Austin', state: 'TX' },
      ...{ postal_code: '78701', country: 'US', phone_number: '5125550100' },
    },
  };
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(order));
  expect((await errand(workspace, ['order', 'create', '--file', 'order.json'])).code).toBe(0);
  await ended(3);
  const sent = await bulk('upload', 'failed.csv');
  expect(sent.code, sent.stderr).toBe(0);
  expect(sent.stderr).toContain('1 placed already');
  await ended(4);
  expect(await live()).toBe(2);
  expect((await bulk('upload', 'failed.csv')).stderr).toContain('2 placed already');
  expect(await live()).toBe(2);
});

test('a row that another machine ordered by its reference is met', async () => {
  const { machine, line, write, bulk, ended, live } = await beginUploads();
  const references = ['--reference-column', 'requisition'];
  write('december.csv', [line(0, 'test-success', 1000), line(1, 'test-success', 1000)]);
  expect((await bulk('upload', 'december.csv', ...references)).code).toBe(0);
  await ended(2);
  const there = machine();
  write('corrected.csv', [line(0, 'test-success', 5000)], there);
  const sent = await errand(there, ['bulk', 'upload', 'corrected.csv', ...references]);
  expect(sent.code, sent.stderr).toBe(0);
  await ended(3);
  expect(await said(bulk, 'december')).toEqual({ report: [1, 1], watch: [1, 1], retry: 1 });
  expect((await bulk('watch', 'december')).stderr).toMatch(
    /^1 failed row was ordered since: 1 by order [\da-f-]{36}$/m,
  );
  expect((await bulk('retry', 'december', '--raise-ceiling', '$50')).code).toBe(0);
  write('december.csv', [line(1, 'test-success', 5000)], there);
  expect((await errand(there, ['bulk', 'upload', 'december.csv', ...references])).code).toBe(0);
  await ended(4);
  expect(await live()).toBe(2);
});

test('equal rows of a file are needs of their own, and so are rows whose keys the file gives', async () => {
  const { workspace, line, write, bulk, ended, live } = await beginUploads();
  write(
    'twins.csv',
    [1000, 5000, 1000].map((cents) => line(0, 'test-success', cents)),
  );
  const keyed = [1000, 5000].map((cents, at) => `${line(1, 'test-success', cents)},key-${at}`);
  writeFileSync(
    join(workspace.folder, 'keyed.csv'),
    [`${headings},idempotency_key`, ...keyed, ''].join('\n'),
  );
  expect((await bulk('upload', 'twins.csv')).code).toBe(0);
  expect((await bulk('upload', 'keyed.csv')).code).toBe(0);
  await ended(5);
  expect(await live()).toBe(2);
  expect(await said(bulk, 'twins')).toEqual({ report: [2, 0], watch: [2, 0], retry: 2 });
  expect(await said(bulk, 'keyed')).toEqual({ report: [1, 0], watch: [1, 0], retry: 1 });
  for (const name of ['twins', 'keyed', 'twins', 'keyed']) {
    const retried = await bulk('retry', name, '--raise-ceiling', '$50');
    expect(retried.code, retried.stderr).toBe(0);
  }
  await ended(8);
  expect(await live()).toBe(5);
  for (const name of ['twins', 'keyed']) {
    await bulk('upload', `${name}.csv`);
    expect(await said(bulk, name)).toEqual({ report: [0, 0], watch: [0, 0], retry: 0 });
  }
  expect(await live()).toBe(5);
});

test('of 2,000 rows 30 failed, and 4 of those were corrected', async () => {
  await corrected(2000, 30, 4, []);
});

test('a row of a file of failed rows is met by whichever retry orders it', async () => {
  const { line, write, bulk, ended, live } = await beginUploads();
  write('a.csv', [line(1, 'test-out-of-stock', 5000), line(2, 'test-out-of-stock', 5000)]);
  const first = await bulk('upload', 'a.csv');
  expect(first.code, first.stderr).toBe(0);
  await ended(2);
  expect((await bulk('retry', 'a', '--to', 'bad.csv')).code).toBe(0);
  expect((await bulk('upload', 'bad.csv')).code).toBe(0);
  await ended(4);

  // Each orders a key that was not used before.
  expect((await bulk('retry', 'a')).code).toBe(0);
  await ended(6);
  expect((await bulk('upload', 'bad.csv')).code).toBe(0);
  await ended(8);
  expect(await live()).toBe(0);
  const last = await bulk('retry', 'bad', '--dry-run');
  expect(offered(last.stdout)).toBe(2);
});

test('where the retry of the first file has ordered, the file of failed rows orders nothing', async () => {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  const run = (...args: string[]) => errand(workspace, args);
  const { stdout: products } = await run('sandbox', 'products', '-o', 'id');
  const url = products.split('\n').find((one) => one.includes('test-slow'));
  const lines = [1, 2].map((at) => `R-${at},${url},5000,Ada Byron,${at} Main St,Austin,TX,78701,5125550100`);
  writeFileSync(join(workspace.folder, 'a.csv'), [headings, ...lines, ''].join('\n'));
  const pending = async (): Promise<string[]> => {
    const { stdout } = await run('order', 'list', '--all', '-o', 'json');
    const orders: { id: string; status: string }[] = JSON.parse(stdout);
    return orders.filter(({ status }) => status === 'pending').map(({ id }) => id);
  };
  const placed = () => expect.poll(async () => (await pending()).length).toBe(2);
  const fail = async () => {
    await placed();
    await run('sandbox', 'trigger', 'failed', ...(await pending()));
  };

  await run('bulk', 'upload', 'a.csv');
  await fail();
  await run('bulk', 'retry', 'a', '--to', 'bad.csv');
  await run('bulk', 'upload', 'bad.csv');
  await fail();
  expect((await run('bulk', 'retry', 'a')).code).toBe(0);
  await placed();
  for (const args of [
    ['retry', 'bad'],
    ['retry', 'a'],
    ['upload', 'bad.csv'],
    ['upload', 'a.csv'],
  ])
    expect((await run('bulk', ...args)).code, args.join(' ')).toBe(0);
  await placed();
});

test('of two machines that race with other content under one reference, neither takes the other’s order for its own', async () => {
  const { machine, line, bulk, ended, write, live } = await beginUploads();
  const reference = ['--reference-column', 'requisition'];
  const second = machine();
  write('f.csv', [line(1, 'test-success', 9000)]);
  const other = line(1, 'test-success', 9000).replace('Ada', 'Bob');
  write('f2.csv', [other], second);
  const upload = (file: string) => errand(second, ['bulk', 'upload', file, ...reference]);
  await Promise.all([bulk('upload', 'f.csv', ...reference), upload('f2.csv')]);
  await ended(1);
  const again = [await bulk('upload', 'f.csv', ...reference), await upload('f2.csv')];
  expect(again.map(({ code }) => code).toSorted()).toEqual([0, 5]);
  expect(again.find(({ code }) => code === 5)?.stderr).toContain('the order of its reference or key differs');
  expect(await live()).toBe(1);
});

test('a reference has no end: months later, the whole file orders only what is new', async () => {
  const { line, bulk, ended, write, service } = await beginUploads();
  const references = ['--reference-column', 'requisition'];
  write('december.csv', [line(0, 'test-success', 5000), line(1, 'test-success', 5000)]);
  expect((await bulk('upload', 'december.csv', ...references)).code).toBe(0);
  await ended(2);
  // A sandbox key that is not used for seven days expires.
  for (let week = 0; week < 6; week += 1) {
    service.pass(6 * 24 * 3600_000);
    await service.send('GET', '/orders?limit=1');
  }
  const same = await bulk('upload', 'december.csv', ...references);
  expect(same.code, same.stderr).toBe(0);
  expect(same.stderr).toMatch(/^0 new; 2 placed already$/m);
  write(
    'december.csv',
    [0, 1, 2].map((at) => line(at, 'test-success', 5000)),
  );
  const more = await bulk('upload', 'december.csv', ...references);
  expect(more.code, more.stderr).toBe(0);
  expect(more.stderr).toMatch(/^1 new; 2 placed already$/m);
  await ended(3);
});

test('a row may be ordered since, although the clock that recorded the order in doubt is behind', async () => {
  const shop = await shopping();
  const { address_line1: street, city, state, postal_code: zip, phone_number: phone } = address;
  const product = shop.service.product('test-success');
  writeFileSync(
    join(shop.workspace.folder, 'december.csv'),
    `${headings}\nR-0,${product},1000,${address.first_name} ${address.last_name},${street},${city},${state},${zip},${phone}\n`,
  );
  expect((await shop.run('bulk', 'upload', 'december.csv')).code).toBe(0);
  shop.service.pass(60_000);
  expect((await shop.run('bulk', 'watch', 'december')).code).toBe(7);
  shop.later(-3600_000);
  lose(shop, 'reset-after');
  const doubt = await shop.order();
  expect(doubt.code, doubt.stderr).toBe(10);
  const watched = await shop.run('bulk', 'watch', 'december');
  expect(watched.code).toBe(10);
  expect(watched.stderr).toMatch(
    /^1 failed row may be ordered since, which is in doubt: .*\nto find out, safely: errand order journal resume --all$/m,
  );
  for (const more of [[], ['--dry-run'], ['--to', '-']]) {
    const retried = await shop.run('bulk', 'retry', 'december', ...more, '-o', 'json');
    expect([retried.code, retried.stdout], retried.stderr).toEqual([5, '']);
    expect(errorOf(retried)).toMatchObject({ code: 'rows_in_doubt', outcome: 'unknown' });
  }
  expect((await shop.run('order', 'journal', 'resume', '--all')).code).toBe(0);
  expect((await shop.run('bulk', 'watch', 'december')).code).toBe(0);
});
