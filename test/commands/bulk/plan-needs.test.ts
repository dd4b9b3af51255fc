import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Plan } from '../../../src/api/schemas/plan-file.ts';
import { serializePlan } from '../../../src/bulk/plan/file.ts';
import { sellersOf, totalsOf } from '../../../src/bulk/plan/totals.ts';
import { makeKey } from '../../support/approval-workspace.ts';
import { errand, type Finished } from '../../support/run.ts';
import { cutOff, errorOf, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const headings = 'product_url,max_price,name,address_line1,city,state,postal_code,country,phone_number';

interface Line {
  readonly at: number;
  readonly slug?: string;
  readonly price?: string;
  readonly name?: string;
  readonly state?: string;
  readonly country?: string;
  readonly phone?: string;
}

/** Writes a file of orders. @returns its name. */
function write(shop: Shopping, lines: readonly Line[], file = 'orders.csv'): string {
  const rows = lines.map(
    ({ at, slug = 'test-success', price = '$50.00', name = 'Ada Byron', ...to }) =>
      `${shop.service.product(slug)},${price},${name},${at} Main St,Austin,${to.state ?? 'TX'},78701,${to.country ?? 'US'},${to.phone ?? '5125550100'}`,
  );
  writeFileSync(join(shop.workspace.folder, file), [headings, ...rows, ''].join('\n'));
  return file;
}

const numbers = (count: number): Line[] => Array.from({ length: count }, (_, index) => ({ at: index + 1 }));
const failing = (lines: readonly Line[], at: readonly number[]): Line[] =>
  lines.map((line) => (at.includes(line.at) ? { ...line, slug: 'test-out-of-stock' } : line));

const planned = (shop: Shopping, file = 'orders.csv', ...more: readonly string[]): Promise<Finished> =>
  shop.run('bulk', 'plan', file, '--out', 'a.plan', '--force', '--no-prices', ...more);
const applied = (shop: Shopping, ...more: readonly string[]): Promise<Finished> =>
  shop.run('bulk', 'apply', 'a.plan', '--retries', '0', ...more);
const uploaded = (shop: Shopping, ...more: readonly string[]): Promise<Finished> =>
  shop.run('bulk', 'upload', ...more);

const pathOf = ({ workspace }: Shopping): string => join(workspace.folder, 'a.plan');
const readPlan = (shop: Shopping): Plan => JSON.parse(readFileSync(pathOf(shop), 'utf8'));
const settle = (shop: Shopping): void => shop.service.pass(60_000);

/** The number of the service's orders, once all batches have ended. */
async function count(shop: Shopping): Promise<number> {
  settle(shop);
  return (await shop.orders()).length;
}

/** Another machine with the same key, which has the plan. */
function secondMachine({ workspace }: Shopping): Workspace {
  const { ERRAND_BASE_URL: url = '', ERRAND_API_KEY: key = '' } = workspace.environment;
  const other = makeWorkspace({ ERRAND_NO_INPUT: '1', ERRAND_BASE_URL: url, ERRAND_API_KEY: key });
  onTestFinished(() => other.remove());
  copyFileSync(join(workspace.folder, 'a.plan'), join(other.folder, 'a.plan'));
  return other;
}

/** Rewrites a plan as version 1 has it, in which every row that was not placed is sent. */
function asEarlier(shop: Shopping, twin?: string): void {
  const { sha256: _, counts: _counts, wallet, made_from: from, ...plan } = readPlan(shop);
  const { skip_duplicates: _skip, again: _again, ...made_from } = from;
  const rows = plan.rows.map(({ checksum: _sum, attempt: _attempt, left_out: left, ...row }) => ({
    ...row,
    twins: left && twin !== undefined ? [`row 1 of ${twin} of 2026-01-01`] : [],
  }));
  const known = new Map(plan.products.map((product) => [product.url, product]));
  const sum = rows.reduce((cents, { order }) => cents + Number(order.max_price), 0);
  const most_cents = sum + plan.fee_cents * rows.length;
  const day = plan.totals.find(({ by }) => by === 'day')?.value ?? '';
  const totals = totalsOf(
    rows.map((row) => ({ ...row, sellers: sellersOf(row.order, known) })),
    { feeCents: plan.fee_cents, day },
  );
  const earlier = {
    ...{ ...plan, made_from, plan: 1 as const, rows, orders: rows.length, ceilings_cents: sum },
    ...{ most_cents, totals, wallet: { ...wallet, after_cents: (wallet.before_cents ?? 0) - most_cents } },
  };
  writeFileSync(pathOf(shop), Buffer.concat(serializePlan(earlier).chunks));
}

describe('a plan of a file that was saved again', () => {
  test('stops where a row is like what was ordered, in every spelling; nothing is ordered twice', async () => {
    const shop = await shopping();
    const one: Line = { at: 14, price: '$60.00', state: 'MA' };
    const spellings: Line[] = [
      { ...one, price: '60.00' },
      { ...one, phone: '(512) 555-0100' },
      { ...one, state: 'Massachusetts', country: 'United States' },
    ];
    const base = { ...one, state: 'TX' };
    expect((await planned(shop, write(shop, [base]))).code).toBe(0);
    expect((await applied(shop)).code).toBe(0);
    settle(shop);
    const [decimals, ...others] = spellings.map((line) => ({
      ...line,
      state: line.country ? 'Texas' : 'TX',
    }));
    for (const spelling of others) {
      const again = await planned(shop, write(shop, [spelling], 'again.csv'), '-o', 'json');
      expect([again.code, errorOf(again).code], again.stderr).toEqual([5, 'rows_alike']);
    }
    const equal = await planned(shop, write(shop, decimals ? [decimals] : [], 'again.csv'));
    expect([equal.code, equal.stderr]).toEqual([0, expect.stringMatching(/^0 new; 1 placed already$/m)]);
    const same = await planned(shop, write(shop, [base]));
    expect([same.code, same.stderr]).toEqual([0, expect.stringMatching(/^0 new; 1 placed already$/m)]);
    expect((await applied(shop)).code).toBe(0);
    expect(await count(shop)).toBe(1);
    const occasion = await planned(shop, write(shop, others.slice(0, 1)), '--run', 'week 2');
    expect(occasion.code, occasion.stderr).toBe(0);
    expect(occasion.stderr).toContain('look: 1 row with a twin: 2');
    expect((await applied(shop)).code).toBe(0);
    expect((await applied(shop)).code).toBe(0);
    expect(await count(shop)).toBe(2);
  });
});

describe('rows that failed', () => {
  test('are new with those that were corrected, and the others are counted', async () => {
    const shop = await shopping();
    const lines = failing(numbers(20), [3, 7, 11, 15]).map((line) => ({ ...line, price: '$20.00' }));
    await uploaded(shop, write(shop, lines));
    settle(shop);
    const corrected = [
      { at: 3, slug: 'test-out-of-stock', price: '$30.00' },
      { at: 7, slug: 'test-out-of-stock', price: '$31.00' },
    ];
    write(shop, [...lines.filter(({ at }) => ![3, 7, 11, 15].includes(at)), ...corrected]);
    const plan = await planned(shop);
    expect(plan.code, plan.stderr).toBe(0);
    expect(plan.stderr).toMatch(
      /^2 new, of them 2 failed before, at most \$63\.00; 16 placed already; 2 failed and not in this file$/m,
    );
    expect(readPlan(shop).counts).toEqual({
      ...{ new: 2, failed_before: 2, taken_back_before: 0, placed: 16, in_doubt: 0, left_out: 0 },
      failed_elsewhere: 2,
    });
    const fresh = readPlan(shop).rows.filter(({ attempt }) => attempt);
    expect(fresh.map(({ row, attempt }) => [row, attempt?.number])).toEqual([
      [18, 2],
      [19, 2],
    ]);
    const apply = await applied(shop);
    expect([apply.code, apply.stderr]).toEqual([0, expect.stringContaining('2 new')]);
    expect(await count(shop)).toBe(22);
    write(shop, corrected, 'alone.csv');
    const alone = await planned(shop, 'alone.csv');
    expect([alone.code, alone.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^2 new, of them 2 failed before, at most \$63\.00; 2 failed and not in this file$/m,
      ),
    ]);
  });

  test('in the whole file again are sent as the next attempt, once', async () => {
    const shop = await shopping();
    await uploaded(shop, write(shop, failing(numbers(5), [2])));
    settle(shop);
    const plan = await planned(shop);
    expect(plan.stderr).toMatch(/^1 new, of them 1 failed before, at most \$51\.00; 4 placed already$/m);
    const [row] = readPlan(shop).rows.filter(({ attempt }) => attempt);
    expect(row).toMatchObject({ attempt: { number: 2 }, key: expect.stringMatching(/-2$/) });
    expect((await applied(shop)).code).toBe(0);
    settle(shop);
    const again = await applied(shop);
    expect(again.stderr).toMatch(
      /^row 3: an attempt since this was planned has ended; this plan covers no other: plan again$/m,
    );
    expect(again.code).toBe(5);
    expect(await count(shop)).toBe(6);
  });
});

describe('what has happened since a plan was made', () => {
  test('a row that was placed meanwhile is not sent, and a row of another spelling neither', async () => {
    const shop = await shopping();
    await planned(shop, write(shop, numbers(4)));
    await uploaded(shop, write(shop, [{ at: 1 }], 'other.csv'));
    await uploaded(shop, write(shop, [{ at: 2, price: '$51.00' }], 'saved.csv'));
    const apply = await applied(shop);
    expect(apply.code, apply.stderr).toBe(5);
    expect(apply.stderr).toMatch(/^row 2: placed since this was planned; not sent again$/m);
    expect(apply.stderr).toMatch(
      /^a\.plan: 1 row is like an earlier order: row 3 as .*; these are not sent$/m,
    );
    expect(await count(shop)).toBe(4);
    const all = await applied(shop, '-o', 'json');
    expect([all.code, errorOf(all).code]).toEqual([5, 'rows_alike']);
    expect(await count(shop)).toBe(4);
  });

  test('a row whose attempt has moved on is not covered; one that has ended is told', async () => {
    const shop = await shopping();
    const lines = failing(numbers(3), [2]);
    await uploaded(shop, write(shop, failing([{ at: 9 }], [9]), 'nine.csv'));
    await planned(shop, write(shop, [...lines, ...failing([{ at: 9 }], [9])]));
    expect(readPlan(shop).counts).toMatchObject({ new: 3, placed: 1 });
    await uploaded(shop, write(shop, failing([{ at: 2 }], [2]), 'two.csv'));
    settle(shop);
    const apply = await applied(shop);
    expect(apply.code, apply.stderr).toBe(5);
    expect(apply.stderr).toMatch(/^row 3: an attempt since this was planned has ended/m);
    expect(apply.stderr).toMatch(/^row 5: placed when this was planned, and ended since/m);
    expect(await count(shop)).toBe(4);
  });

  test('an apply that is cut off goes on with the same keys', async () => {
    const shop = await shopping();
    await planned(shop, write(shop, numbers(6)), '--batch-size', '2');
    expect((await cutOff(shop, () => applied(shop))).code).toBe(10);
    const again = await applied(shop);
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/^4 new; 2 in doubt, sent again unchanged$/m),
    ]);
    expect((await applied(shop)).code).toBe(0);
    expect(await count(shop)).toBe(6);
  });
});

test('one approval on two machines without a common journal is one order for each row', async () => {
  const shop = await shopping();
  await uploaded(shop, write(shop, numbers(2), 'first.csv'));
  makeKey(shop.workspace, 'ada');
  const policyOf = ({ folder }: Workspace): void => {
    mkdirSync(join(folder, '.config'), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(folder, '.config/policy.yaml'),
      'version: 1\napprove: { above: $20 }\napprovers: [ada.pub]\n',
      {
        mode: 0o600,
      },
    );
    writeFileSync(join(folder, '.config/ada.pub'), readFileSync(join(shop.workspace.folder, 'ada.pub')), {
      mode: 0o600,
    });
  };
  policyOf(shop.workspace);
  const asked = await planned(shop, write(shop, numbers(5)));
  expect([asked.code, asked.stderr]).toEqual([11, expect.stringContaining('2 placed already')]);
  const [, id = ''] = /errand approval \w+ ([0-9a-f]+)/.exec(asked.stderr) ?? [];
  const { summary, total_cents: total } = JSON.parse(
    (await shop.run('approval', 'show', id, '-o', 'json')).stdout,
  );
  expect([total, summary]).toEqual([15_300, expect.objectContaining({ orders: 3, placed: 2 })]);
  expect(summary.needs).toEqual(readPlan(shop).rows.flatMap(({ attempt }) => attempt?.need ?? []));
  expect((await shop.run('approval', 'approve', id, '--key', 'ada')).code).toBe(0);
  const signed = (await shop.run('approval', 'export', id)).stdout;
  const other = secondMachine(shop);
  policyOf(other);
  writeFileSync(join(other.folder, 'approval.json'), signed);
  expect((await applied(shop)).code).toBe(0);
  settle(shop);
  const second = await errand(other, ['bulk', 'apply', 'a.plan', '--approval', 'approval.json']);
  expect(second.code, second.stderr).toBe(0);
  expect(await count(shop)).toBe(5);
});

describe('a plan of version 1', () => {
  test('is applied with its keys, whatever it showed as alike', async () => {
    const shop = await shopping();
    await uploaded(shop, write(shop, [{ at: 1, price: '$49.00' }], 'before.csv'));
    const [batch] = (await shop.run('bulk', 'list', '-o', 'id')).stdout.split('\n');
    expect((await planned(shop, write(shop, numbers(3)), '--skip-duplicates')).code).toBe(0);
    expect(readPlan(shop).rows.filter(({ attempt }) => attempt)).toHaveLength(2);
    asEarlier(shop, `batch ${batch}`);
    const apply = await applied(shop);
    expect(apply.code, apply.stderr).toBe(0);
    expect((await applied(shop)).code).toBe(0);
    const same = await uploaded(shop, 'orders.csv');
    expect([same.code, same.stderr]).toEqual([0, expect.stringContaining('3 placed already')]);
    expect(await count(shop)).toBe(4);
  });

  test('sends no row that is like one that was placed since', async () => {
    const shop = await shopping();
    await planned(shop, write(shop, numbers(3)));
    asEarlier(shop);
    await uploaded(shop, write(shop, [{ at: 2, price: '$51.00' }], 'saved.csv'));
    const apply = await applied(shop);
    expect([apply.code, apply.stderr]).toEqual([5, expect.stringContaining('row 3 as')]);
    expect(await count(shop)).toBe(3);
  });
});
