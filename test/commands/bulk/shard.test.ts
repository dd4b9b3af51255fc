import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultProxy } from '../../faults/proxy.ts';
import { placesOf } from '../../support/places.ts';
import { errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const headings =
  'errand_reference,product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number';

let service: TestService;
let proxy: FaultProxy;
let machines: Workspace[];

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  proxy = new FaultProxy(service.baseUrl);
  const environment = { ERRAND_BASE_URL: await proxy.start(), ERRAND_API_KEY: service.key };
  machines = Array.from({ length: 3 }, () => makeWorkspace(environment));
});
afterEach(async () => {
  await proxy.stop();
  await service.stop();
  for (const machine of machines) machine.remove();
});

const row = (place: number, { name = `REQ-${place}`, price = '2000' } = {}): string =>
  `${name},${service.product('test-success')},${price},A B,${place} Main St,Austin,TX,78701,US,+15125550100`;

/** Writes the same file on every machine. */
function write(file: string, rows: readonly string[], first = headings): void {
  for (const { folder } of machines) writeFileSync(join(folder, file), `${[first, ...rows].join('\n')}\n`);
}

const bulk = (machine: number, ...args: string[]): Promise<Finished> =>
  errand(machines[machine] as Workspace, ['bulk', ...args]);

/** Row counts of three shards, each uploaded from its own machine. */
const thirds = (...args: string[]): Promise<number[]> =>
  Promise.all(
    [0, 1, 2].map(async (at) => {
      const { code, stdout, stderr } = await bulk(at, ...args, '--shard', `${at + 1}/3`, '-o', 'json');
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout).reduce((sum: number, { rows }: { rows: number }) => sum + rows, 0);
    }),
  );

const thirty = (): string[] => [
  // Rows for the same product and recipient are separate orders if their references differ.
  ...Array.from({ length: 20 }, (_, at) => row(at)),
  ...Array.from({ length: 10 }, (_, at) => row(0, { name: `MORE-${at}` })),
];

describe('a file is divided among machines', () => {
  test('all shards together are the file, each row once; other shards and the whole file place nothing more', async () => {
    write('orders.csv', thirty());
    const rows = await thirds('upload', 'orders.csv');
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(30);
    expect(Math.min(...rows)).toBeGreaterThan(0);
    const first = (await placesOf(service)).toSorted();
    expect(first).toEqual(
      thirty()
        .map((one) => one.split(',')[4])
        .toSorted(),
    );
    await bulk(0, 'upload', 'orders.csv', '--shard', '1/2');
    await bulk(1, 'upload', 'orders.csv', '--shard', '2/2');
    await bulk(2, 'upload', 'orders.csv');
    expect((await placesOf(service)).toSorted()).toEqual(first);
  });

  test('a row stays in its shard when the file is put in another order, or grows', async () => {
    const rows = Array.from({ length: 20 }, (_, at) => row(at));
    write('orders.csv', rows);
    await bulk(0, 'upload', 'orders.csv', '--shard', '1/2');
    const before = await placesOf(service);
    write('orders.csv', [...rows.toReversed(), row(20), row(21)]);
    const { stdout } = await bulk(1, 'upload', 'orders.csv', '--shard', '2/2', '-o', 'json');
    const sent = JSON.parse(stdout)[0].rows;
    expect(await placesOf(service)).toHaveLength(before.length + sent);
    expect(sent).toBeGreaterThanOrEqual(20 - before.length);
    expect(sent).toBeLessThanOrEqual(22 - before.length);
  });

  test('it says which shard it is, has a name of its own, and is followed by that name', async () => {
    write('orders.csv', thirty());
    const { stderr } = await bulk(0, 'upload', 'orders.csv', '--shard', '2/3');
    const [, own] = /^orders\.csv, shard 2\/3: (\d+) of 30 rows$/m.exec(stderr) ?? [];
    expect(stderr).toMatch(/^follow: errand bulk watch orders-2-of-3$/m);
    const [upload] = JSON.parse((await bulk(0, 'uploads', '-o', 'json')).stdout);
    expect(upload).toMatchObject({ name: 'orders-2-of-3', file: 'orders.csv', state: 'sent' });
    expect(upload.rows).toBe(Number(own));
    const results = await bulk(0, 'results', 'orders-2-of-3');
    expect(results.stdout.trim().split('\n')).toHaveLength(upload.rows + 1);
    const given = await bulk(0, 'upload', 'orders.csv', '--shard', '1/3', '--name', 'mine');
    expect(given.stderr).toMatch(/^follow: errand bulk watch mine$/m);
  });

  test('one that was cut short goes on with the rows of its shard', async () => {
    write('orders.csv', thirty());
    proxy.faults = ['none', ...Array.from({ length: 60 }, () => '500-before' as const)];
    const shard = ['--shard', '1/2', '--batch-size', '2', '--retries', '0'];
    const cut = await bulk(0, 'upload', 'orders.csv', ...shard);
    expect(cut.code).not.toBe(0);
    proxy.faults = [];
    const whole = await bulk(0, 'resume', 'orders-1-of-2');
    expect(whole.code, whole.stderr).toBe(0);
    const [{ rows, sent, state }] = JSON.parse((await bulk(0, 'uploads', '-o', 'json')).stdout);
    expect({ sent, state }).toEqual({ sent: rows, state: 'sent' });
    expect(await placesOf(service)).toHaveLength(rows);
  });

  test('what is invalid is in no shard and refused in each; with --skip-invalid the rest is divided', async () => {
    write('orders.csv', [...thirty(), row(40, { price: 'many' })]);
    const refused = await bulk(0, 'upload', 'orders.csv', '--shard', '1/3');
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('30 of 31 rows valid; nothing was sent');
    const rows = await thirds('upload', 'orders.csv', '--skip-invalid');
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(30);
    expect(await placesOf(service)).toHaveLength(30);
  });

  test('without references it needs a database that all machines share', async () => {
    write('orders.csv', thirty(), headings.replace('errand_reference', 'order'));
    const refused = await bulk(0, 'upload', 'orders.csv', '--shard', '1/2');
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('--reference-column');
    expect(await placesOf(service)).toEqual([]);
  });

  test('a shard without rows is no failure, and nothing is sent', async () => {
    write('orders.csv', [row(0)]);
    const codes = await Promise.all(
      [0, 1, 2].map((at) => bulk(at, 'upload', 'orders.csv', '--shard', `${at + 1}/3`)),
    );
    expect(codes.map(({ code }) => code)).toEqual([0, 0, 0]);
    const empty = codes.filter(({ stderr }) =>
      /no row of orders\.csv is in shard [123]\/3; nothing was sent/.test(stderr),
    );
    expect(empty).toHaveLength(2);
    expect(await placesOf(service)).toHaveLength(1);
  });

  test('bulk validate checks a shard, and a plan is applied in shards', async () => {
    write('orders.csv', thirty(), headings.replace('errand_reference', 'order'));
    const checked = await Promise.all(
      [1, 2, 3].map((part) => bulk(0, 'validate', 'orders.csv', '--shard', `${part}/3`)),
    );
    const counts = checked.map(({ stderr }) => Number(/^shard \d\/3: (\d+) of 30 rows$/m.exec(stderr)?.[1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30);
    await bulk(0, 'plan', 'orders.csv', '--out', 'orders.plan', '--no-prices');
    const applied: string[] = [];
    for (const part of [1, 2, 3]) {
      const { code, stderr } = await bulk(0, 'apply', 'orders.plan', '--shard', `${part}/3`);
      expect(code, stderr).toBe(0);
      applied.push(/^shard \d\/3: (\d+) of 30 rows of the plan$/m.exec(stderr)?.[1] ?? '');
    }
    expect(applied.map(Number)).toEqual(counts);
    expect(await placesOf(service)).toHaveLength(30);
  });

  test.each([
    ['3', '--shard takes a part and how many there are, such as 3/8, not "3"'],
    [' 1/2', '--shard takes a part and how many there are, such as 3/8, not " 1/2"'],
    ['a/b', '--shard takes a part and how many there are, such as 3/8, not "a/b"'],
    ['9/8', '--shard 9/8: the parts are 1/8 to 8/8'],
    ['0/8', '--shard 0/8: the parts are 1/8 to 8/8'],
    ['2/1', '--shard 2/1: the only part is 1/1'],
    ['1/0', '--shard 1/0: a file is divided into 1 to 1,000 parts'],
    ['1/1001', '--shard 1/1001: a file is divided into 1 to 1,000 parts'],
  ])('--shard %s is refused in words', async (shard, message) => {
    for (const verb of ['upload', 'validate', 'apply']) {
      const { code, stderr } = await bulk(0, verb, 'orders.csv', '--shard', shard);
      expect(code).toBe(2);
      expect(stderr.split('\n')[0]).toBe(`error: ${message}`);
    }
  });
});
