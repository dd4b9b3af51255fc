import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errand, fastShop } from '../../support/run.ts';
import { copyOf, makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let batch: string;

const headings = 'my_reference,product_url,max_price_cents,name,address,city,state,zip,phone';

/** A batch with one row placed, one over its ceiling and one out of stock. */
let uploaded: Workspace;

beforeAll(async () => {
  uploaded = makeWorkspace();
  const shop = await fastShop(uploaded);
  const rows = ['test-success', 'test-price-exceeded', 'test-out-of-stock'].map(
    (slug, at) => `A-${at},${shop}${slug},5005,Ada Byron,${at} Main St,Austin,TX,78701,5125550100`,
  );
  writeFileSync(join(uploaded.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  const upload = ['bulk', 'upload', 'orders.csv', '--watch', '--timeout', '10m'];
  batch = /[0-9a-f-]{36}/.exec((await errand(uploaded, upload)).stdout)?.[0] ?? '';
});
afterAll(() => uploaded.remove());
beforeEach(() => {
  workspace = copyOf(uploaded);
});
afterEach(() => workspace.remove());

const retry = (...more: string[]) => errand(workspace, ['bulk', 'retry', batch, ...more]);
const orderCount = async (): Promise<number> =>
  JSON.parse(
    (await errand(workspace, ['order', 'list', '--all', '-o', 'json', '--query', 'length(@)'])).stdout,
  );

describe('bulk retry', () => {
  test('takes the rows of one reason, with a tenth more to spend, and shows the new total first', async () => {
    const reason = ['--reason', 'max_price_exceeded', '--raise-ceiling', '10%'];
    const { code, stdout, stderr } = await retry(...reason, '--dry-run');
    expect(code, stderr).toBe(0);
    const { rows } = JSON.parse(stdout).body;
    expect(rows).toHaveLength(1);
    // Rounded down: a tenth of 5005 is 500.5, and the raise must not exceed 10%.
    expect(rows[0]).toMatchObject({ my_reference: 'A-1', max_price: '5505' });
    expect(stderr).toContain('1 row: at most $55.05, before $50.05, without fees');
    expect(JSON.parse((await retry('--raise-ceiling', '$5', '--dry-run')).stdout).body.rows).toMatchObject([
      { my_reference: 'A-1', max_price: '5505' },
      { my_reference: 'A-2', max_price: '5505' },
    ]);
  });

  test('takes a row that failed again, whatever its ceiling, as the next attempt', async () => {
    const before = await orderCount();
    expect((await retry('--watch', '--timeout', '10m')).code).toBe(7);
    expect(await orderCount()).toBe(before + 2);
    const raised = await retry('--raise-ceiling', '10%', '--watch', '--timeout', '10m');
    expect(raised.stderr).toMatch(/^2 orders: 2 failed$/m);
    expect(raised.stderr).not.toContain('ordered before');
    expect(await orderCount()).toBe(before + 4);
    const policy = join(workspace.folder, 'policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits: { per_order: $1 }\n', { mode: 0o600 });
    workspace.environment.ERRAND_POLICY = policy;
    expect((await retry()).code).toBe(11);
    expect(await orderCount()).toBe(before + 4);
  });

  test('writes why each row failed into a column of the file to correct', async () => {
    const { stdout } = await retry('--to', '-');
    const [first, second] = parse(stdout, { columns: true }) as Record<string, string>[];
    expect(first).toMatchObject({
      my_reference: 'A-1',
      reason: expect.stringMatching(/^max_price_exceeded: /),
    });
    expect(second).toMatchObject({ my_reference: 'A-2', reason: expect.stringMatching(/^out_of_stock/) });
    expect(Object.keys(first ?? {}).slice(0, 9)).toEqual(headings.split(','));
  });

  test.each([
    [['--reason', 'no_such_code'], 'no row failed for no_such_code; 2 rows failed: '],
    [['--raise-ceiling', '10'], "--raise-ceiling 10 is ambiguous: write 10% or '$10'"],
    [['--raise-ceiling', '$0'], '--raise-ceiling $0 raises nothing'],
    [['--raise-ceiling', '0%'], '--raise-ceiling 0%: write more than 0% and at most 100%'],
    [['--raise-ceiling', '101%'], '--raise-ceiling 101%: write more than 0% and at most 100%'],
    [['--raise-ceiling', '-$5'], '--raise-ceiling'],
    [['--raise-ceiling', '1e3%'], '--raise-ceiling'],
  ])('%j is refused, and nothing is sent', async (flags, message) => {
    const { code, stdout, stderr } = await retry(...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(await orderCount()).toBe(3);
  });
});

describe('--max-total', () => {
  const upload = (...more: string[]) =>
    errand(workspace, ['bulk', 'upload', 'orders.csv', '--run', 'again', ...more, '-o', 'json']);

  test('refuses an upload that may cost more, and takes one that may cost as much', async () => {
    const before = await orderCount();
    const refused = await upload('--max-total', '$153.14');
    expect(refused).toMatchObject({ code: 11, stdout: '' });
    const { error } = JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '');
    expect(error).toMatchObject({ code: 'max_total_exceeded', outcome: 'not_sent' });
    expect(error.message).toBe('the orders may cost $153.15, and --max-total is $153.14; nothing was sent');
    expect(await orderCount()).toBe(before);
    expect((await upload('--max-total-cents', '15315')).code).toBe(0);
  });

  test('holds for a retry, with its ceilings raised', async () => {
    const before = await orderCount();
    const { code, stderr } = await retry('--raise-ceiling', '100%', '--max-total', '$200');
    expect(code).toBe(11);
    expect(stderr).toContain('the orders may cost $200.20, and --max-total is $200.00');
    expect(await orderCount()).toBe(before);
  });

  test('of a bare number is asked for anew', async () => {
    const { code, stderr } = await upload('--max-total', '200');
    expect(code).toBe(2);
    expect(stderr).toContain('--max-total 200 is ambiguous');
  });
});
