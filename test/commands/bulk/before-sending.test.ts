import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beginInFastShop } from '../../support/copies.ts';
import { errand, shell } from '../../support/run.ts';
import type { Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let shop: string;

beginInFastShop((copy, url) => {
  workspace = copy;
  shop = url;
});

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

const bulk = (...args: string[]) => errand(workspace, ['bulk', ...args]);

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

describe('rows with the same product and recipient', () => {
  test('within the file are named with the row that they repeat', async () => {
    write([
      { at: 1 },
      { at: 2 },
      { at: 1, city: ' austin', note: 'again' },
      { at: 1, url: `${shop}test-pickup` },
      { at: 2, cents: 6000 },
    ]);
    const said = '2 rows: same product and recipient as an earlier row; row 4 as row 2, row 6 as row 3';
    expect((await bulk('upload', 'orders.csv', '--dry-run')).stderr).toContain(said);
    const { code, stderr } = await bulk('upload', 'orders.csv', '--batch-size', '2');
    expect(code).toBe(0);
    expect(stderr).toContain(said);
  });
});

test('totals by retailer are told where there is more than one', async () => {
  write([{ at: 1 }, { at: 2 }]);
  expect((await bulk('upload', 'orders.csv', '--dry-run')).stderr).not.toContain('by retailer');
  write([
    { at: 1 },
    { at: 2, url: 'https://www.first.example/p/1' },
    { at: 3, url: 'https://www.first.example/p/2' },
    { at: 4, url: `https://other.example/p/3|${shop}test-success`, cents: 7000 },
  ]);
  expect((await bulk('upload', 'orders.csv', '--dry-run')).stderr).toContain(
    'by retailer: 127.0.0.1 2 ($120.00), www.first.example 2 ($100.00), other.example 1 ($70.00)\n',
  );
});

test('nothing is told of a file in which nothing stands out', async () => {
  write([{ at: 1 }, { at: 2 }, { at: 3 }]);
  const { stderr } = await bulk('upload', 'orders.csv');
  expect(stderr).toMatch(
    /^orders.csv: 3 rows\nat most \$[\d.]+, of \$[\d,.]+ in the wallet\n(?:uploading.*\n)?follow: errand bulk watch \S+\n$/,
  );
});

describe('an edited row that keeps its key', () => {
  const keyed = [
    { at: 1, key: 'k1', cents: 4000 },
    { at: 2, key: 'k2' },
    { at: 3, key: 'k3', url: 'ftp://nowhere' },
  ];
  const watched = (...more: string[]) =>
    bulk('upload', 'orders.csv', '--watch', '--timeout', '10m', '--skip-invalid', ...more);

  test('is listed with its order and not sent; a note or a ceiling of its own makes no other order', async () => {
    write(keyed);
    expect((await watched()).code).toBe(0);
    write([
      { at: 5, key: 'k1', cents: 4000 },
      { at: 2, key: 'k2', cents: 4500, note: 'urgent' },
      { at: 3, key: 'k3' },
    ]);
    const again = await watched();
    expect(again.code, again.stderr).toBe(5);
    expect(again.stderr).toMatch(/^1 new; 1 placed already; 1 not sent$/m);
    expect(again.stderr).toMatch(
      /^1 row not sent: the order of its reference or key differs\n {2}row 2 as order \S+ \(delivered, .*\): .*5 Main St.*1 Main St/m,
    );
    expect(again.stderr).toMatch(/^1 order: 1 placed$/m);
    const orders = await errand(workspace, ['order', 'list', '-o', 'json']);
    expect(
      JSON.parse(orders.stdout)
        .map(({ max_price }: { max_price: number }) => max_price)
        .sort(),
    ).toEqual([4000, 5000, 5000]);
  });

  test('is told after the answer where this machine has not sent the earlier one', async () => {
    write(keyed);
    await watched();
    const state = join(workspace.folder, '.state');
    await shell(workspace, `rm ${state}/uploads.db* ${state}/journal.db*; errand order journal repair`);
    write([{ at: 1, key: 'k1', cents: 4500 }, { at: 2, key: 'k2' }, { at: 4 }]);
    const again = await watched();
    expect(again.code, again.stderr).toBe(0);
    const lines = again.stderr.split('\n').filter((text) => /keeps? the key/.test(text));
    expect(lines).toEqual([
      'row 2 keeps the key of an order placed before with other content (max_price $40.00, now $45.00): it was not ordered; give it a new key or leave its key empty',
    ]);
    expect(again.stderr.indexOf('keeps the key')).toBeGreaterThan(again.stderr.indexOf('follow:'));
  });

  test('needs a look in a plan', async () => {
    write(keyed);
    await watched();
    write([{ at: 5, key: 'k1' }, { at: 2, key: 'k2', note: 'urgent' }, { at: 4 }]);
    const planned = await bulk('plan', 'orders.csv', '--out', 'a.plan', '--no-prices', '-o', 'json');
    const rows: { row: number; kinds: string[]; why: string[] }[] = JSON.parse(planned.stdout);
    const found = rows.filter(({ kinds }) => kinds.includes('kept_key'));
    expect(found).toMatchObject([{ row: 2 }]);
    expect(planned.code).toBe(5);
    expect(found[0]?.why).toEqual([
      expect.stringMatching(/^keeps the key or reference of an order that differs: /),
    ]);
    expect((await bulk('show', 'a.plan')).stderr).toContain(
      'look: 1 row that keeps a key but not its content: 2',
    );
  });

  test('keeps the key of an order that was placed alone', async () => {
    const create = `errand order create --product ${shop}test-success --max-price '$40.00' -o id --first-name Ada --last-name Byron --address-line1 '1 Main St' --city Austin --state TX --postal-code 78701 --country US --phone-number 5125550100 --idempotency-key k1`;
    expect((await shell(workspace, create)).code).toBe(0);
    write([{ at: 1, key: 'k1' }]);
    expect((await bulk('upload', 'orders.csv')).stderr).toContain('0 new; 1 placed already');
  });
});

test('bulk validate of rows that are right and that the wallet cannot cover says so in its output, too', async () => {
  write([{ at: 1 }, { at: 2 }]);
  await errand(workspace, ['sandbox', 'trigger', 'wallet-emptied']);
  const short = 'at most $102.00, and the wallet has $0.00: $102.00 short';
  const json = await errand(workspace, ['bulk', 'validate', 'orders.csv', '-o', 'json']);
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    6,
    [{ row: null, column: '', value: '', message: short }],
  ]);
  const table = await errand(workspace, ['bulk', 'validate', 'orders.csv']);
  expect([table.code, table.stdout]).toEqual([6, expect.stringContaining(short)]);
  expect(table.stderr).not.toContain('nothing is wrong');
  expect((await errand(workspace, ['bulk', 'validate', 'orders.csv', '-o', 'id'])).stdout).toBe('');
});
