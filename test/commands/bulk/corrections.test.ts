import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, onTestFinished, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const headings = 'requisition,product_url,max_price_cents,name,address,city,state,zip,phone';

/** A service with a machine that orders from it. */
async function begin() {
  const service = await TestService.start({ now: Date.now(), config: { startBalanceCents: 100_000_000 } });
  const machine = (): Workspace => {
    const made = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
    onTestFinished(() => made.remove());
    return made;
  };
  onTestFinished(() => service.stop());
  const workspace = machine();
  const line = (at: number, slug: string, cents: number): string =>
    `R-${at},${service.product(slug)},${cents},Ada Byron,${at} Main St,Austin,TX,78701,5125550100`;
  const write = (file: string, lines: readonly string[], on = workspace): void =>
    writeFileSync(join(on.folder, file), [headings, ...lines, ''].join('\n'));
  const bulk = (...args: string[]) => errand(workspace, ['bulk', ...args]);
  async function statuses(): Promise<string[]> {
    const { stdout } = await errand(workspace, ['order', 'list', '--all', '-o', 'json']);
    return JSON.parse(stdout).map(({ status }: { status: string }) => status);
  }
  /** Waits until there are `count` orders, and all of them have ended. */
  const ended = (count: number) =>
    expect
      .poll(async () => {
        service.pass(60_000);
        const all = await statuses();
        return [all.length, all.filter((status) => ['pending', 'in_progress'].includes(status)).length];
      })
      .toEqual([count, 0]);
  const jsonOf = async (...args: string[]) => JSON.parse((await bulk(...args, '-o', 'json')).stdout);
  const live = async (): Promise<number> =>
    (await statuses()).filter((status) => !['order_failed', 'cancelled'].includes(status)).length;
  return { service, machine, workspace, line, write, bulk, ended, jsonOf, live };
}

/** Rows that `bulk retry` would send. */
const offered = (stdout: string): number => (stdout === '' ? 0 : JSON.parse(stdout).body.rows.length);

async function corrected(rows: number, failing: number, mended: number, references: readonly string[]) {
  const { workspace, line, write, bulk, ended, jsonOf, live } = await begin();
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
    expect(last.stderr).toContain('no row of december has failed');
    expect((await bulk('watch', 'december')).code).toBe(0);
    await bulk('upload', 'december.csv', ...references);
    expect(await live()).toBe(before + left);
  });
