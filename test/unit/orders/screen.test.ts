import { describe, expect, test } from 'vitest';
import type { Row } from '../../../src/format/result.ts';
import { parcelContents } from '../../../src/orders/columns.ts';
import { orderList, orderView, productLine } from '../../../src/orders/screen.ts';
import { printed } from '../../support/streams.ts';

const tea = 'https://www.shop.example/p/green-tea-500-g/5456092992';
const mug = 'https://www.other.example/mugs/blue-mug';

const order = (more: Row = {}): Row => ({
  id: '9e2919b9-0000-4000-8000-000000000000',
  status: 'order_placed',
  items: [{ url: tea, quantity: 2, status: 'ordered' }],
  tracking_numbers: [],
  created_at: '2026-06-15T11:58:00Z',
  ...more,
});
const paid = (cart: readonly Row[], cents = 2099): Row => ({
  job_result: {
    price_components: { total: cents, currency: 'USD', payment_currency: 'USD', cart_items: cart },
  },
});
const bothLines = [
  { url: tea, quantity: 2 },
  { url: mug, quantity: 1 },
];

describe('the products of an order', () => {
  test.each([
    ['a title from the receipt', [{ name: 'Green Tea', quantity: 2 }], [{ url: tea }], '2 x Green Tea'],
    ['the URL without one', [], [{ url: tea, quantity: 2 }], `2 x ${tea}`],
    [
      'each its own title, and the URL of the one that the receipt lacks',
      [{ name: 'Green Tea', product_id: '5456092992', quantity: 2 }],
      bothLines,
      `2 x Green Tea, ${mug}`,
    ],
    [
      'the same where the receipt has no name for one',
      [
        { name: '', product_id: 'blue-mug', quantity: 1 },
        { name: 'Green Tea', product_id: '5456092992', quantity: 2 },
      ],
      bothLines,
      `2 x Green Tea, ${mug}`,
    ],
    [
      'no title that may be that of another line',
      [{ name: 'Something', product_id: 'x', quantity: 2 }],
      bothLines,
      `2 x ${tea}, ${mug}`,
    ],
    ['no title for an empty id', [{ name: 'Something', product_id: '' }], bothLines, `2 x ${tea}, ${mug}`],
  ])('are %s', (_, cart, items, line) => {
    expect(productLine(order({ items, ...paid(cart) }))).toBe(line);
  });
});

describe('an order of which less was bought than was asked for', () => {
  const items = [{ id: 'a', url: tea, quantity: 5, status: 'delivered' }];
  const short = (more: Row = {}): Row => ({
    ...order({ items, ...paid([{ name: 'Green Tea', product_id: '5456092992', quantity: 2 }]) }),
    fulfillment: { concessions: [{ item_id: 'a', url: tea, requested_quantity: 5, fulfilled_quantity: 2 }] },
    tracking_numbers: [{ status: 'delivered' }],
    ...more,
  });

  test('says how much of how many, alone and beside others', () => {
    expect(productLine(short())).toBe('2 of 5 x Green Tea');
    expect(productLine(short({ job_result: null }))).toBe(`2 of 5 x ${tea}`);
    expect(productLine(short({ items: [...items, { id: 'b', url: mug, quantity: 5 }] }))).toBe(
      `2 of 5 x Green Tea, 5 x ${mug}`,
    );
    expect(productLine(short({ status: 'order_failed' }))).toBe('2 x Green Tea');
  });

  test('is delivered in part, in lists and in a record with its lines', async () => {
    const more = { id: 'b', url: mug, quantity: 1, status: 'skipped', error_type: 'out_of_stock' };
    const record = short({ items: [...items, more] });
    const terminal = { terminal: true, columns: 100 };
    const { out } = await printed({ kind: 'record', record, ...orderView }, {}, terminal);
    expect(out).toMatch(/^state +✖ delivered in part$/m);
    expect(out).toMatch(/^ +✖ delivered in part +2 of 5 /m);
    expect(out).toMatch(/^ +✖ skipped +1 /m);
    const listed = await printed({ kind: 'list', ...orderList, rows: [short()] }, {}, terminal);
    expect(listed.out).toContain('✖ delivered in part');
    expect(listed.out).toContain('2 of 5 x Green Tea');
  });
});

describe('a list of orders at 80 columns', () => {
  const list = async (rows: readonly Row[], columns = 80) =>
    printed({ kind: 'list', ...orderList, rows }, {}, { terminal: true, columns });
  const returned = { ...paid([]), returns: [{ id: 'r', credited_amount: 1999 }] };

  test.each([
    ['order_placed', '● placed', returned],
    ['cancelled_by_retailer', '✖ cancelled by retailer', {}],
  ])('keeps state, host and total beside a refund: %s', async (status, state, more) => {
    const items = [{ url: 'https://www.harborgoods.example/p/green-tea', quantity: 2 }];
    const { out, err } = await list([order({ items, ...returned }), order({ status, items, ...more })]);
    const [header = '', first = '', second = ''] = out.split('\n');
    expect(header).toMatch(/^@ +ID +STATE +PRODUCT +TOTAL/);
    expect(first).toContain('$1.00, $19.99 back');
    expect(first).toMatch(/2 x www\.harborgoods\.example\/…/);
    expect(second).toContain(state.slice(0, 15));
    expect(err).not.toContain('total');
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('what the retailer cancelled says what came back, and is not merely quoted', async () => {
    const undone = order({ status: 'cancelled_by_retailer', ...paid([]) });
    expect((await list([undone])).out).toMatch(/cancelled by retail.* \$20\.99 back/);
    const { out } = await printed({ kind: 'record', record: undone, ...orderView }, {}, { terminal: true });
    expect(out).toMatch(/^total +\$0\.00 kept, \$20\.99 back$/m);
    expect(out).not.toMatch(/^quoted/m);
    const refused = order({ status: 'order_failed', ...paid([]) });
    const seen = await printed({ kind: 'record', record: refused, ...orderView }, {}, { terminal: true });
    expect(seen.out).toMatch(/^quoted +\$20\.99$/m);
    expect(seen.out).not.toMatch(/^total/m);
    const voided = { ...undone, payment: { mode: 'card', state: 'voided', authorized_cents: 2099 } };
    expect((await list([voided])).out).not.toContain('back');
  });

  test('an age is headed as one, and a time is not', async () => {
    const headed = async (utc: boolean) => {
      const result = { kind: 'list', ...orderList, rows: [order()] } as const;
      return (await printed(result, { utc }, { terminal: true, columns: 120 })).out.split('\n')[0];
    };
    expect(await headed(false)).toMatch(/ AGE\b/);
    expect(await headed(true)).toMatch(/ CREATED\b/);
    expect(await headed(true)).not.toContain('AGE');
  });

  test('a record says which part was kept', async () => {
    const { out } = await printed(
      { kind: 'record', record: order(returned), ...orderView },
      {},
      { terminal: true },
    );
    expect(out).toMatch(/^total +\$1\.00 kept, \$19\.99 back$/m);
  });
});

test.each([
  [undefined, tea],
  ['exact', tea],
  ['inferred', `${tea} (inferred)`],
  ['estimated', `${tea} (estimated)`],
])('what a parcel holds is shown with how the service knows it: %s', (item_mapping, shown) => {
  const parcel = { id: 'p', order_item_ids: ['i'], item_mapping };
  expect(parcelContents(order({ items: [{ id: 'i', url: tea, quantity: 1 }] }), parcel)).toBe(shown);
});
