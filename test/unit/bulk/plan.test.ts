import { describe, expect, test } from 'vitest';
import type { PlanDraft } from '../../../src/api/schemas/plan-file.ts';
import { alteredRows, integrityOf, rangesText, serializePlan } from '../../../src/bulk/plan/file.ts';
import { productIdIn } from '../../../src/bulk/plan/products.ts';

const row = (number: number): PlanDraft['rows'][number] => ({
  row: number,
  key: `key-${number}`,
  cells: ['https://shop.example/1', '5000', 'Ünï "quoted"'],
  order: { max_price: 5000 },
  retailers: ['shop.example'],
  price_cents: null,
  room_cents: null,
  twins: [],
  placed: null,
  notes: ['unknown retailer: shop.example'],
});

const draft: PlanDraft = {
  ...{
    plan: 1,
    errand: '1.0.0',
    created_at: '2026-11-22T10:00:00.000Z',
    expires_at: '2026-11-23T10:00:00.000Z',
  },
  ...{
    service: 'https://service.example',
    account: 'a',
    key: 'xx_test_…1',
    profile: 'local',
    is_rehearsal: true,
  },
  file: { name: 'orders.csv', sha256: 'a'.repeat(64), rows: 3, left_out: 0 },
  made_from: {
    ...{ path: '/work/orders.csv', map: {}, amounts: null, encoding: null, delimiter: null, locale: null },
    skip_invalid: false,
  },
  ...{
    batch_size: 500,
    run: '',
    notify_on_complete: false,
    priced_at: null,
    orders: 3,
    ceilings_cents: 15_000,
  },
  ...{ fee_cents: 100, most_cents: 15_300, policy: null, totals: [], products: [] },
  wallet: { before_cents: 100_000, after_cents: 84_700, by_invoice: false },
  headings: ['product_url', 'max_price', 'name'],
  rows: [row(2), row(3), row(4)],
};

describe('the seal of a plan', () => {
  const { chunks, sha256 } = serializePlan(draft);
  const bytes = Buffer.concat(chunks);

  test('holds for what was written, which is JSON with its hash', () => {
    expect(integrityOf(bytes)).toBe('whole');
    const { sha256: stored, rows, ...rest } = JSON.parse(bytes.toString());
    expect(stored).toBe(sha256);
    expect({ ...rest, rows: rows.map(({ checksum: _, ...one }: { checksum: string }) => one) }).toEqual(
      draft,
    );
  });

  test('holds for a plan of several chunks, none of which has all of its rows', () => {
    const many = Array.from({ length: 1001 }, (_, at) => row(at + 2));
    const written = serializePlan({ ...draft, rows: many });
    const whole = Buffer.concat(written.chunks);
    expect(integrityOf(whole)).toBe('whole');
    expect(alteredRows(whole)).toEqual([]);
    expect(JSON.parse(whole.toString()).rows.map(({ row: number }: { row: number }) => number)).toEqual(
      many.map(({ row: number }) => number),
    );
    expect(Math.max(...written.chunks.map(({ length }) => length))).toBeLessThan(whole.length / 1.9);
  });

  test('breaks with every bit of every byte that is changed', () => {
    for (let at = 0; at < bytes.length; at += 1)
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        if (integrityOf(changed) !== 'altered') expect.fail(`bit ${bit} of byte ${at} was changed unseen`);
      }
  });

  test('breaks with every byte that is added or missing', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(integrityOf(Buffer.concat([bytes.subarray(0, at), Buffer.from(' '), bytes.subarray(at)]))).toBe(
        'altered',
      );
      if (at < bytes.length)
        expect(integrityOf(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]))).toBe('altered');
    }
  });

  test('tells which row was changed', () => {
    const changed = Buffer.from(bytes.toString().replace('key-3', 'key-5'));
    expect(alteredRows(changed)).toEqual([3]);
    expect(alteredRows(bytes)).toEqual([]);
  });

  test('is no part of another file', () => {
    expect(integrityOf(Buffer.from('product_url,max_price\n'))).toBe('none');
    expect(integrityOf(Buffer.alloc(0))).toBe('none');
  });
});

test.each([
  [[2, 3, 4, 9, 11, 12], '2-4, 9, 11-12'],
  [[5, 4, 5], '4-5'],
  [[], ''],
])('row numbers %j are named %j', (numbers, text) => {
  expect(rangesText(numbers)).toBe(text);
});

test.each([
  ['https://a.example/dp/B000X6PHQ8', 'B000X6PHQ8'],
  ['https://a.example/dp/B000X6PHQ8/ref=sr_1', 'B000X6PHQ8'],
  ['https://a.example/listing/1000000012/oak-bowl', '1000000012'],
  ['https://a.example/p/decaf-500-g/5456092992?x=1', '5456092992'],
  ['https://a.example/products/coffee-beans-83/', 'coffee-beans-83'],
  ['https://a.example/', undefined],
  ['no address', undefined],
])('the product id in %s is %s', (url, id) => {
  expect(productIdIn(url)).toBe(id);
});
