import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import { errand } from '../../support/run.ts';
import { beginUploads } from '../../support/uploads.ts';

type Begun = Awaited<ReturnType<typeof beginUploads>>;
type Run = Begun['bulk'];

const [failing, enough] = [1000, 5000];

/** The orders of an upload in the order of its rows, once all are made. */
const ordersOf = ({ jsonOf, service }: Begun, name: string): Promise<string[]> =>
  vi.waitFor(
    async () => {
      service.pass(1000);
      const rows: { order_id: string | null }[] = await jsonOf('report', name);
      return rows.map(({ order_id: id }) => id ?? expect.fail('not every order is made'));
    },
    { timeout: hangsAfterMs },
  );

/** Returns every unit of delivered orders, and waits until the service has credited them. */
async function returnAll({ service, workspace }: Begun, orders: readonly string[]): Promise<void> {
  for (const order of orders) {
    const made = await errand(workspace, [
      'return',
      'create',
      '--order',
      order,
      '--reason',
      'damaged',
      '--notes',
      'x',
    ]);
    expect(made.code, made.stderr).toBe(0);
  }
  await vi.waitFor(
    async () => {
      service.pass(24 * 3600_000);
      const { body } = await service.send('GET', '/returns?limit=100');
      const open = body.return_requests.filter(({ status }: { status: string }) => status !== 'credited');
      expect([body.total, open]).toEqual([orders.length, []]);
    },
    { timeout: hangsAfterMs },
  );
}

async function cancelAll({ workspace }: Begun, orders: readonly string[]): Promise<void> {
  for (const order of orders) {
    const cancelled = await errand(workspace, ['order', 'cancel', order]);
    expect(cancelled.code, cancelled.stderr).toBe(0);
  }
}

const summaryOf = (stdout: string) => JSON.parse(stdout.trim().split('\n').at(-1) ?? '');

/** The numbers of rows that failed, that were withdrawn, and that were ordered since, according to each command. */
async function counts(bulk: Run, name: string) {
  const watched = summaryOf((await bulk('watch', name, '-o', 'ndjson')).stdout);
  const report: { order_state: string; met_by: unknown }[] = JSON.parse(
    (await bulk('report', name, '-o', 'json')).stdout,
  );
  const results: { order_state: string; met_by: string }[] = parse((await bulk('results', name)).stdout, {
    columns: true,
  });
  const of = (rows: readonly { order_state: string; met_by: unknown }[]): number[] => [
    rows.filter(({ order_state: state }) => /^failed|by retailer/.test(state)).length,
    rows.filter(({ order_state: state }) => /^withdrawn: (cancelled|returned)$/.test(state)).length,
    rows.filter(({ met_by: by }) => by !== null && by !== '').length,
  ];
  const got: { rows: { state: string }[] }[] = [
    JSON.parse((await bulk('get', name, '-o', 'json')).stdout),
  ].flat();
  const states = got.flatMap(({ rows }) => rows.map(({ state }) => state));
  const inState = (...some: readonly string[]): number => states.filter((one) => some.includes(one)).length;
  // A row that was tried again in the same upload was ordered since, too.
  const retriedHere = states.length - report.length;
  const retried = await bulk('retry', name, '--dry-run');
  const again = await bulk('retry', name, '--again', '--dry-run');
  const offered = ({ stdout }: { stdout: string }): number =>
    stdout === '' ? 0 : JSON.parse(stdout).body.rows.length;
  const failed = offered(retried);
  expect(retried.code).toBe(offered(again) > failed ? 5 : 0);
  return {
    watch: [watched.failed, watched.withdrawn, watched.since],
    report: of(report),
    results: of(results),
    get: [inState('failed', 'refused'), inState('withdrawn'), inState('since') - retriedHere],
    retry: [failed, offered(again) - failed],
  };
}

const same = (failed: number, withdrawn: number, since: number) => ({
  watch: [failed, withdrawn, since],
  report: [failed, withdrawn, since],
  results: [failed, withdrawn, since],
  get: [failed, withdrawn, since],
  retry: [failed, withdrawn],
});

for (const [how, references] of [
  ['content', []],
  ['reference', ['--reference-column', 'requisition']],
] as const)
  test(`rows that were cancelled or returned are withdrawn in every command, and ordered again by --again alone; by ${how}`, async () => {
    const begun = await beginUploads();
    const { bulk, write, line, ended, live } = begun;
    write(
      'december.csv',
      [enough, enough, enough, enough, failing].map((cents, at) =>
        line(at, at === 0 ? 'test-slow' : 'test-success', cents),
      ),
    );
    const sent = await bulk('upload', 'december.csv', ...references);
    expect(sent.code, sent.stderr).toBe(0);
    const [cancelled = '', first = '', second = ''] = await ordersOf(begun, 'december');
    await cancelAll(begun, [cancelled]);
    await ended(5);
    begun.service.pass(24 * 3600_000);
    await returnAll(begun, [first, second]);
    expect(await counts(bulk, 'december')).toEqual(same(1, 3, 0));

    const watched = await bulk('watch', 'december');
    expect(watched.code).toBe(7);
    const reported = await bulk('report', 'december');
    for (const { stderr } of [watched, reported]) {
      expect(stderr).toMatch(/^5 orders: .*\b3 withdrawn\b/m);
      expect(stderr).toMatch(/^1 failed: 1 max_price_exceeded$/m);
      expect(stderr).toMatch(/^3 withdrawn: 2 returned, 1 cancelled$/m);
      expect(stderr).toContain('try again: errand bulk retry december');
    }
    const got = (await bulk('get', 'december')).stdout;
    expect(got).toMatch(/^ +2 +placed +\S+ +cancelled +withdrawn: cancelled/m);
    expect(got).toMatch(/^ +3 +placed +\S+ +order_placed +withdrawn: returned/m);

    const retried = await bulk('retry', 'december', '--raise-ceiling', '$50');
    expect(retried.code).toBe(5);
    expect(retried.stderr).toContain(
      '3 withdrawn rows left out (2 returned, 1 cancelled); --again takes them, too',
    );
    await ended(6);
    expect(await counts(bulk, 'december')).toEqual(same(0, 3, 0));
    const none = await bulk('retry', 'december', '-o', 'json');
    expect(none.code).toBe(5);
    const { error } = summaryOf(none.stderr);
    expect(error).toMatchObject({ code: 'rows_withdrawn', outcome: 'not_sent', details: { withdrawn: 3 } });
    expect(error.message).toBe(
      '3 rows of december were withdrawn (2 returned, 1 cancelled) and are not ordered again without --again; nothing was sent',
    );
    expect(error.next).toMatchObject([
      { command: 'errand bulk report december' },
      { command: 'errand bulk retry december -o json --again' },
    ]);
    expect((await bulk('upload', 'december.csv', ...references)).code).toBe(5);
    await ended(6);

    const again = await bulk('retry', 'december', '--again');
    expect(again.code, again.stderr).toBe(0);
    await ended(9);
    const twice = await bulk('retry', 'december', '--again');
    expect([twice.code, twice.stderr]).toEqual([0, 'no row of december has failed\n']);
    await ended(9);
    // The orders that were returned are not live either.
    expect(await live()).toBe(5 + 2);
    expect(await counts(bulk, 'december')).toEqual(same(0, 0, 0));
  });

test('after 12 orders of a file were returned and 5 cancelled, the same file buys nothing', async () => {
  const begun = await beginUploads();
  const { bulk, write, line, ended } = begun;
  write(
    'december.csv',
    Array.from({ length: 24 }, (_, at) => line(at, at < 5 ? 'test-slow' : 'test-success', enough)),
  );
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  const orders = await ordersOf(begun, 'december');
  await cancelAll(begun, orders.slice(0, 5));
  await ended(24);
  begun.service.pass(24 * 3600_000);
  await returnAll(begun, orders.slice(5, 17));
  const same24 = await bulk('upload', 'december.csv');
  expect(same24.code).toBe(5);
  expect(same24.stderr).toContain('the orders of 12 rows were sent back');
  expect(same24.stderr).toContain('the orders of 5 rows were cancelled');
  expect(same24.stderr).toContain('nothing was sent');
  await ended(24);
  expect(await counts(bulk, 'december')).toEqual(same(0, 17, 0));
  expect((await bulk('report', 'december')).stderr).toContain('17 withdrawn: 12 returned, 5 cancelled\n');
  expect((await bulk('retry', 'december')).stderr).toContain(
    '17 rows of december were withdrawn (12 returned, 5 cancelled)',
  );
  await ended(24);
});

test('a file of failed rows leaves out what was withdrawn, says so, and ends as the retry does', async () => {
  const begun = await beginUploads();
  const { bulk, write, line, ended, workspace } = begun;
  write('december.csv', [line(0, 'test-slow', enough), line(1, 'test-success', failing)]);
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  const [cancelled = ''] = await ordersOf(begun, 'december');
  await cancelAll(begun, [cancelled]);
  await ended(2);
  for (const to of ['-', 'failed.csv']) {
    const written = await bulk('retry', 'december', '--to', to);
    expect(written.code, written.stderr).toBe(5);
    expect(written.stderr).toContain('1 withdrawn row left out (1 cancelled); --again takes it, too\n');
    const csv = to === '-' ? written.stdout : readFileSync(join(workspace.folder, to), 'utf8');
    expect(parse(csv, { columns: true })).toMatchObject([{ requisition: 'R-1' }]);
  }
  const both = await bulk('retry', 'december', '--to', '-', '--again');
  expect(both.code, both.stderr).toBe(0);
  expect(parse(both.stdout, { columns: true })).toHaveLength(2);
});

test('a retry proposes --again only where the policy lets withdrawn rows be ordered again', async () => {
  const begun = await beginUploads();
  const { bulk, write, line, ended, workspace, service } = begun;
  const rule = 'duplicates: { same: [product, address], within: 7d, then: refuse }';
  const policy = join(workspace.folder, 'policy.yaml');
  writeFileSync(policy, `version: 1\n${rule}\n`, { mode: 0o600 });
  workspace.environment.ERRAND_POLICY = policy;
  write('december.csv', [line(0, 'test-success', enough), line(1, 'test-success', failing)]);
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  const [returned = ''] = await ordersOf(begun, 'december');
  await ended(2);
  service.pass(24 * 3600_000);
  await returnAll(begun, [returned]);
  const left = await bulk('retry', 'december', '--dry-run');
  expect(left.code).toBe(5);
  expect(left.stderr).toContain(
    '1 withdrawn row left out (1 returned); the policy refuses to order it again\n',
  );
  expect((await bulk('retry', 'december', '--raise-ceiling', '$50')).code).toBe(5);
  await ended(3);
  const none = await bulk('retry', 'december', '-o', 'json');
  expect(none.code).toBe(5);
  const { error } = summaryOf(none.stderr);
  expect(error.message).toBe(
    '1 row of december was withdrawn (1 returned), and the policy refuses to order it again; nothing was sent',
  );
  expect(error.next.map(({ command }: { command: string }) => command)).toEqual([
    'errand bulk report december',
    'errand policy show',
  ]);
  const again = await bulk('retry', 'december', '--again');
  expect(again.code, again.stderr).toBe(11);
});

test('of rows that are like live orders, and others that were cancelled, each way on works as it is proposed', async () => {
  const begun = await beginUploads();
  const { bulk, write, line } = begun;
  const rows = (cents: number, count: number) =>
    Array.from({ length: count }, (_, at) => line(at, 'test-slow', cents));
  write('december.csv', rows(enough, 3));
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  const [cancelled = ''] = await ordersOf(begun, 'december');
  await cancelAll(begun, [cancelled]);
  write('january.csv', rows(enough + 1, 4));
  const refused = await bulk('upload', 'january.csv', '-o', 'json');
  expect(refused.code).toBe(5);
  const ways: { command: string; when: string }[] = summaryOf(refused.stderr).error.next;
  expect(ways.map(({ command }) => command.replace('errand bulk upload january.csv -o json ', ''))).toEqual([
    '--skip-duplicates',
    '--again --skip-duplicates',
    '--run NAME',
  ]);
  const sent = [];
  for (const { command } of ways) {
    const shown = await errand(begun.workspace, [...command.split(' ').slice(1), '--dry-run']);
    expect(shown.code, shown.stderr).toBe(0);
    sent.push(JSON.parse(shown.stdout).body.rows.length);
  }
  expect(sent).toEqual([1, 2, 4]);
  expect(ways.map(({ when }) => when).slice(0, 2)).toEqual([
    'to order the other 1',
    'to order the other 2, with what was cancelled or returned',
  ]);
});

test('a row that failed, was corrected and failed again is met by nothing, until one is placed', async () => {
  const { bulk, write, line, ended, jsonOf } = await beginUploads();
  const upload = async (name: string, cents: number, orders: number) => {
    write(`${name}.csv`, [line(0, 'test-success', cents)]);
    const sent = await bulk('upload', `${name}.csv`);
    expect(sent.code, sent.stderr).toBe(0);
    await ended(orders);
  };
  await upload('first', failing, 1);
  await upload('second', failing + 1, 2);
  expect(await counts(bulk, 'first')).toEqual(same(1, 0, 0));
  expect(await jsonOf('report', 'first')).toMatchObject([{ attempts: 2, met_by: null }]);
  expect(await jsonOf('report', 'first', 'second')).toMatchObject([{ attempts: 2, met_by: null }]);
  await upload('third', enough, 3);
  for (const [name, attempts] of [
    ['first', 3],
    ['second', 2],
  ] as const) {
    expect(await counts(bulk, name)).toEqual(same(0, 0, 1));
    const [row] = await jsonOf('report', name);
    expect(row).toMatchObject({ attempts, met_by: { upload: 'third' } });
    expect(row.orders).toHaveLength(attempts);
  }
  expect(await jsonOf('report', 'first', 'second')).toMatchObject([{ attempts: 3 }]);
  expect(await jsonOf('report', 'first', 'third')).toMatchObject([{ attempts: 3 }]);
  expect(await jsonOf('report', 'first', 'second', 'third')).toMatchObject([{ attempts: 3, met_by: null }]);
  expect(summaryOf((await bulk('watch', 'first', 'second', '-o', 'ndjson')).stdout)).toMatchObject({
    ...{ rows: 1, failed: 0, since: 1 },
  });
});

test('watch says at the end of its time what it says at the end', async () => {
  const { bulk, write, line, service } = await beginUploads();
  write('december.csv', [line(0, 'test-success', failing), line(1, 'test-never', enough)]);
  expect((await bulk('upload', 'december.csv')).code).toBe(0);
  write('corrected.csv', [line(0, 'test-success', enough)]);
  await vi.waitFor(
    async () => {
      service.pass(60_000);
      const { body } = await service.send('GET', '/orders');
      expect(body.orders.map(({ status }: { status: string }) => status).toSorted()).toEqual([
        'in_progress',
        'order_failed',
      ]);
    },
    { timeout: hangsAfterMs },
  );
  expect((await bulk('upload', 'corrected.csv')).code).toBe(0);
  service.pass(3600_000);
  const watched = await bulk('watch', 'december', '--timeout', '2s');
  expect(watched.code).toBe(8);
  expect(watched.stderr).toContain('2 orders: 1 under way, 1 ordered since\n');
  expect(watched.stderr).toContain('1 failed row was ordered since: 1 by corrected\n');
  expect(watched.stderr).not.toContain('try again');
});

// Up to 20 references are asked for one by one.
test.each([1, 21])(
  'a machine that knows none of the uploads finds by the reference what was ordered since: %i failed rows',
  async (failed) => {
    const begun = await beginUploads();
    const { machine, write, line, ended, bulk, live } = begun;
    const references = ['--reference-column', 'requisition'];
    const rows = (cents: number): string[] => [
      line(0, 'test-slow', enough),
      ...Array.from({ length: failed }, (_, at) => line(1 + at, 'test-success', cents)),
    ];
    write('december.csv', rows(failing));
    const sent = await bulk('upload', 'december.csv', ...references, '-o', 'id');
    const batch = sent.stdout.trim();
    const [cancelled = ''] = await ordersOf(begun, 'december');
    await cancelAll(begun, [cancelled]);
    await ended(1 + failed);
    const second = machine();
    write('december.csv', rows(enough), second);
    const again = await errand(second, ['bulk', 'upload', 'december.csv', ...references, '--again']);
    expect(again.code, again.stderr).toBe(0);
    await ended(2 * (1 + failed));
    expect(await live()).toBe(1 + failed);

    const third = machine();
    const onThird = (...args: string[]) => errand(third, ['bulk', ...args]);
    const retried = await onThird('retry', batch);
    expect([retried.code, retried.stdout]).toEqual([0, '']);
    const lines = retried.stderr.split('\n');
    expect(lines[0]).toBe('no row of this batch is left to retry');
    expect(lines[1]).toMatch(
      failed === 1
        ? /^1 failed row was ordered since: 1 by order \S{36}$/
        : /^21 failed rows were ordered since: 21 by other orders$/,
    );
    expect(lines[2]).toMatch(/^1 withdrawn row was ordered since: 1 by order \S{36}$/);
    const watched = await onThird('watch', batch);
    expect(watched.code, watched.stderr).toBe(0);
    expect(watched.stderr).toContain(`${1 + failed} orders: ${1 + failed} ordered since\n`);
    const rowsOnThird: { attempts: number }[] = JSON.parse(
      (await onThird('report', batch, '-o', 'json')).stdout,
    );
    expect(rowsOnThird.map(({ attempts }) => attempts)).toEqual(Array.from({ length: 1 + failed }, () => 2));
    expect((await onThird('report', batch)).stderr).toContain(
      `${1 + failed} orders: ${1 + failed} delivered\n`,
    );
  },
);

test('only what works from here is proposed', async () => {
  const { machine, write, line, ended, bulk } = await beginUploads();
  const second = machine();
  const rows = [line(0, 'test-success', enough), line(1, 'test-success', failing)];
  write('december.csv', rows);
  write('december.csv', rows, second);
  const planned = ['bulk', 'plan', 'december.csv', '--out', 'december.plan', '--run', 'december'];
  expect((await errand(second, planned)).code).toBe(0);
  const applied = await errand(second, ['bulk', 'apply', 'december.plan', '-o', 'id']);
  const batch = applied.stdout.trim();
  await ended(2);
  expect((await bulk('upload', 'december.csv', '--run', 'december')).code).toBe(0);
  await ended(2);
  for (const verb of ['watch', 'report']) {
    const { stderr } = await bulk(verb, 'december');
    expect(stderr).toContain(
      '1 row failed as an order of an upload that this machine does not know: try again where it was made\n',
    );
    expect(stderr).not.toContain('errand bulk retry');
    expect((await bulk(verb, batch)).stderr).toContain(`errand bulk retry ${batch} --file FILE`);
  }
});
