import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let workspace: Workspace;
let shop: string;

beforeEach(async () => {
  workspace = makeWorkspace();
  await errand(workspace, ['config', 'set', 'sandbox-speed', '50']);
  const products = await errand(workspace, ['sandbox', 'products', '-o', 'id']);
  shop = (products.stdout.split('\n')[0] ?? '').replace(/[^/]*$/, '');
});
afterEach(() => workspace.remove());

interface Line {
  readonly at: number;
  readonly cents?: number;
  readonly url?: string;
  readonly key?: string;
  readonly note?: string;
  readonly city?: string;
}

const line = ({
  at,
  cents = 5000,
  url = `${shop}test-success`,
  key = '',
  note = '',
  city = 'Austin',
}: Line) => `${url},${cents},Ada Byron,${at} Main St,${city},TX,78701,5125550100,${key},${note}`;

const write = (lines: readonly Line[], name = 'orders.csv'): void =>
  writeFileSync(
    join(workspace.folder, name),
    [
      'product_url,max_price_cents,name,address,city,state,zip,phone,idempotency_key,note',
      ...lines.map(line),
      '',
    ].join('\n'),
  );

const bulk = (...args: string[]) => errand(workspace, ['bulk', ...args], { timeoutMs: 40_000 });

describe('an amount far from the others', () => {
  const far = 'row 4: its ceiling of $450.00 is far from the others, which are between $45.00 and $60.00';

  test('is told by validate, by upload before it sends, and by a plan', async () => {
    write([4500, 5200, 45_000, 6000, 4700].map((cents, index) => ({ at: index + 1, cents })));
    const local = await bulk('validate', 'orders.csv', '--local');
    expect(local).toMatchObject({ code: 0, stdout: '' });
    expect(local.stderr).toContain(far);
    const preview = await bulk('upload', 'orders.csv', '--dry-run');
    expect(preview.stderr).toContain(far);
    const planned = await bulk('plan', 'orders.csv', '--out', 'a.plan', '--no-prices', '-o', 'json');
    expect(planned.code).toBe(0);
    const rows: { row: number; kinds: string[]; why: string[] }[] = JSON.parse(planned.stdout);
    const found = rows.filter(({ kinds }) => kinds.includes('far_amount'));
    expect(found).toMatchObject([{ row: 4 }]);
    expect(found[0]?.why).toContain('ceiling far from the others, which are between $45.00 and $60.00');
    expect((await bulk('show', 'a.plan')).stderr).toContain(
      'look: 1 row with a ceiling far from the others: 4',
    );
    const uploaded = await bulk('upload', 'orders.csv');
    expect(uploaded.code).toBe(0);
    expect(uploaded.stderr.split(far)).toHaveLength(2);
    expect(uploaded.stderr.indexOf(far)).toBeLessThan(uploaded.stderr.indexOf('follow:'));
  });

  test('is not told where there is none, or where the row is left out', async () => {
    write([4500, 5200, 5500, 6000, 4700].map((cents, index) => ({ at: index + 1, cents })));
    expect((await bulk('validate', 'orders.csv', '--local')).stderr).not.toContain('far from');
    write([4500, 5200, 45_000, 6000, 4700].map((cents, index) => ({ at: index + 1, cents })));
    const planned = await bulk('plan', 'orders.csv', '--out', 'a.plan', '--no-prices');
    expect(planned.stderr).toContain('far from');
    write([
      ...[4500, 5200, 6000, 4700].map((cents, index) => ({ at: index + 1, cents })),
      { at: 9, cents: 90_000, url: 'ftp://nowhere' },
    ]);
    const left = await bulk('upload', 'orders.csv', '--skip-invalid', '--dry-run');
    expect(left.stderr).toContain('4 of 5 rows; 1 is invalid and left out');
    expect(left.stderr).not.toContain('far from');
  });
});
