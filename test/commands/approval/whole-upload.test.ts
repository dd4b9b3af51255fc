import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ApprovalWorkspace, makeKey } from '../../support/approval-workspace.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const headings = 'product_url,max_price_cents,name,address,city,state,zip,phone';
let at: ApprovalWorkspace;

beforeEach(async () => {
  const service = await TestService.start({ now: Date.now(), config: { startBalanceCents: 10_000_000 } });
  const environment = { ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key };
  at = new ApprovalWorkspace(makeWorkspace(environment), service);
});
afterEach(async () => {
  at.workspace.remove();
  await at.service.stop();
});

const row = (number: number, cents = 4000): string =>
  `${at.service.product('test-success')},${cents},Ada Byron,${number} Main St,Austin,TX,78701,5125550100`;
const write = (rows: readonly string[]): void =>
  writeFileSync(join(at.workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
const rows = (count: number): string[] => Array.from({ length: count }, (_, number) => row(number));
const bulk = (...args: string[]) => at.run(['bulk', ...args]);
const upload = (...more: string[]) => bulk('upload', 'orders.csv', ...more);
const orders = async (): Promise<number> =>
  (await at.service.send('GET', '/orders/bulk')).body.batches.reduce(
    (sum: number, { row_count: count }: { row_count: number }) => sum + count,
    0,
  );
/** Id of the approval that an error asks for. */
const asked = (stderr: string): string =>
  /errand approval approve ([0-9a-f]{12})/.exec(stderr)?.[1] ?? 'none';

describe('upload_above', () => {
  test('has a file approved once, as a whole, and not its rows one by one', async () => {
    const key = makeKey(at.workspace, 'ada');
    at.policy('approve: { above: $500, upload_above: $100 }', ['ada']);
    write(rows(3));
    const refused = await upload();
    expect(refused.code, refused.stderr).toBe(11);
    expect(refused.stderr).toContain('approve.upload_above: $123.00 is above $100.00 for an upload');
    expect(refused.stderr).not.toContain('row ');
    expect(await orders()).toBe(0);
    const id = asked(refused.stderr);
    const shown = await at.run(['approval', 'show', id, '-o', 'json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      ...{ subject: 'upload', total_cents: 12_300, rules: ['approve.upload_above'] },
      summary: { orders: 3, file: 'orders.csv' },
    });
    expect((await at.run(['approval', 'approve', id, '--key', key])).code).toBe(0);
    const placed = await upload('--batch-size', '2');
    expect(placed.code, placed.stderr).toBe(0);
    expect(await orders()).toBe(3);
    // The same file again places nothing, and asks for nothing.
    expect((await upload()).code).toBe(0);
    expect(await orders()).toBe(3);
  });

  test.each([
    ['another ceiling', (all: string[]) => [...all.slice(1), row(0, 4001)]],
    ['another address', (all: string[]) => [...all.slice(1), row(9)]],
    ['a row more', (all: string[]) => [...all, row(7, 100)]],
  ])('binds the yes to what the file says: %s needs another', async (_, changed) => {
    makeKey(at.workspace, 'ada');
    at.policy('approve: { upload_above: $100 }', ['ada']);
    write(rows(3));
    const id = asked((await upload()).stderr);
    await at.run(['approval', 'approve', id, '--key', 'ada']);
    write(changed(rows(3)));
    const refused = await upload();
    expect(refused.code).toBe(11);
    expect(asked(refused.stderr)).not.toBe(id);
    expect(await orders()).toBe(0);
  });

  test('asks for no yes below it, and counts what the upload has sent already', async () => {
    at.policy('approve: { upload_above: $100 }');
    write(rows(2));
    expect((await upload()).code).toBe(0);
    // Each part of a plan counts with the parts before it.
    write(Array.from({ length: 4 }, (_, number) => row(20 + number)));
    expect((await bulk('plan', 'orders.csv', '--out', 'a.plan', '--no-prices')).code).toBe(11);
    expect((await bulk('apply', 'a.plan', '--rows', '2-3')).code).toBe(0);
    const rest = await bulk('apply', 'a.plan');
    expect([rest.code, rest.stderr]).toEqual([11, expect.stringContaining('is above $100.00 for an upload')]);
    expect(await orders()).toBe(4);
  });

  test('a rule for each order stays one for each order, and policy show says what each rule covers', async () => {
    at.policy('approve: { above: $30, upload_above: $1,000 }'.replace('$1,000', '"$1,000"'));
    write(rows(2));
    expect((await upload()).stderr).toContain('row 2, approve.above: $41.00 is above $30.00');
    const shown = JSON.parse((await at.run(['policy', 'show', '-o', 'json'])).stdout);
    expect(shown).toMatchObject([
      { rule: 'approve.above', covers: 'each order', value: '$30.00' },
      { rule: 'approve.upload_above', covers: 'a whole upload', value: '$1,000.00' },
    ]);
    expect((await at.create(2000)).code).toBe(0);
  });
});

describe('a plan that replaces another', () => {
  const plan = (...more: string[]) =>
    bulk('plan', 'orders.csv', '--out', 'a.plan', '--no-prices', '--force', ...more);
  const states = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      JSON.parse((await at.run(['approval', 'list', '--all', '-o', 'json'])).stdout).map(
        ({ id, state }: { id: string; state: string }) => [id, state],
      ),
    );
  const askedFor = (stderr: string): string => /errand approval show ([0-9a-f]{12})/.exec(stderr)?.[1] ?? '';
  let first: string;

  beforeEach(async () => {
    makeKey(at.workspace, 'ada');
    at.policy('approve: { upload_above: $100 }', ['ada']);
    write(rows(3));
    first = askedFor((await plan()).stderr);
    write(rows(4));
  });

  test('withdraws the open request for it, so that nobody approves what is gone', async () => {
    const again = await plan();
    expect(again.code, again.stderr).toBe(11);
    expect(again.stderr).toContain(`approval ${first}, of the plan that was replaced, is withdrawn`);
    expect(await states()).toEqual({ [first]: 'denied', [askedFor(again.stderr)]: 'open' });
  });

  test('leaves a yes that was given, and what another file asks for', async () => {
    const other = await bulk('plan', 'orders.csv', '--out', 'b.plan', '--no-prices', '--run', 'b');
    await at.run(['approval', 'approve', first, '--key', 'ada']);
    const again = await plan();
    expect(again.stderr).not.toContain('withdrawn');
    expect(await states()).toMatchObject({ [first]: 'approved', [askedFor(other.stderr)]: 'open' });
  });
});
