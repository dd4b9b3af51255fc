import { describe, expect, test } from 'vitest';
import { batchDetailScreen, batchList } from '../../../../src/bulk/upload/columns.ts';
import { approvalColumns } from '../../../../src/commands/approval/columns.ts';
import { journalColumns } from '../../../../src/commands/order/journal/columns.ts';
import { returnColumns } from '../../../../src/commands/return/columns.ts';
import { trackScreen } from '../../../../src/commands/track/index.ts';
import { eventList, eventView } from '../../../../src/commands/webhook/columns.ts';
import type { Column, Result, Row } from '../../../../src/format/result.ts';
import { milestoneScreen } from '../../../../src/orders/columns.ts';
import { listingList, offerList, resultList } from '../../../../src/orders/products/columns.ts';
import { orderList, orderView } from '../../../../src/orders/screen.ts';
import { printed } from '../../../support/streams.ts';
import { isWhole } from '../../../support/whole.ts';

const id = '9e2919b9-0b43-4c2e-9c50-6c8a3b2d1f00';
const url = 'https://a-long-name-of-a-shop.example/products/a-long-name-of-a-product-340-g-80';
const created_at = '2026-06-15T11:00:00Z';
const title =
  'コーヒー 340 g — A product whose title is longer than any terminal is wide, and then some more';
const widths = Array.from({ length: 101 }, (_, index) => index + 40);
/** Each list has every fourth width, and the next list those that follow. */
const widthsOf = (list: number): readonly number[] =>
  widths.filter((width) => isWhole || width % 4 === list % 4);

const parcel = (status: string): Row => ({
  status,
  carrier: 'Northline Parcel Express',
  tracking_number: 'SX327254772US0000000',
  estimated_delivery_date: '2026-06-20',
  checkpoints: [{ message: `${title} left at the door`, checkpoint_time: created_at }],
});
const order = (status: string, more: Row = {}): Row => ({
  id,
  status,
  created_at,
  max_price: 123_456_789,
  items: [
    { url, quantity: 12, status: 'ordered' },
    { url, quantity: 1, status: 'ordered' },
  ],
  tracking_numbers: [],
  shipping_address: { first_name: 'Ada', last_name: title },
  job_result: {
    error: title,
    price_components: { total: 123_456_789, currency: 'USD', cart_items: [{ name: title }, { name: title }] },
  },
  returns: [{ id, status: 'denied', credited_amount: 1999 }],
  ...more,
});
const failedOrders: readonly (readonly [Row, string])[] = [
  [
    order('order_failed', { job_result: { error_type: 'max_price_exceeded', error: title } }),
    '✖ failed: price',
  ],
  [
    order('order_failed', { job_result: { error_type: 'a_type_that_nobody_knew_before_today' } }),
    '✖ failed: a t',
  ],
  [order('cancelled'), '✖ cancelled'],
  [order('cancelled_by_retailer'), '✖ cancelled by'],
  [order('order_placed', { tracking_numbers: [parcel('undeliverable')] }), '✖ undeliverable'],
  [
    order('order_placed', { tracking_numbers: [parcel('delivered'), parcel('undeliverable')] }),
    '✖ 1 of 2 undel',
  ],
];
const batch = (more: Row): Row => ({
  id,
  row_count: 2000,
  placed_count: 1999,
  failed_count: 1,
  filename: `${title}.csv`,
  created_at,
  ...more,
});
const event = (more: Row): Row => ({
  id: 123_456,
  received_at: created_at,
  event: 'request_succeeded',
  order_id: id,
  status: 'order_placed',
  ...more,
});

interface FailedList {
  readonly columns: readonly Column[];
  readonly screen?: readonly Column[];
}

/** Lists with a failed record, and the text that must be visible. */
const lists: readonly (readonly [string, FailedList, Row, string])[] = [
  ...failedOrders.map(([row, sign]) => [`order list (${sign})`, orderList as FailedList, row, sign] as const),
  ['bulk list, refused', batchList as FailedList, batch({ status: 'completed' }), '✖ 1 not placed'],
  ['bulk list, failed', batchList as FailedList, batch({ status: 'failed' }), '✖ failed'],
  [
    'return list',
    { columns: returnColumns } as FailedList,
    { id, status: 'denied', reason: 'not_as_described', order_id: id, created_at },
    '✖ denied',
  ],
  [
    'webhook events, failed',
    eventList(true) as FailedList,
    event({ status: 'order_failed', error_type: 'out_of_stock' }),
    '✖ failed: out o',
  ],
  [
    'webhook events, not forwarded',
    eventList(true) as FailedList,
    event({ forward: { delivered: false } }),
    '✖ not forwarded',
  ],
  [
    'webhook events, command',
    eventList(true) as FailedList,
    event({ exec: { exit_code: 3, at: created_at } }),
    '✖ command: exit',
  ],
  [
    'order timeline',
    { columns: milestoneScreen(0) } as FailedList,
    { type: 'undeliverable', label: 'Undeliverable', occurred_at: created_at, detail: { why: title } },
    '✖ Undeliverable',
  ],
  [
    'order journal list',
    { columns: journalColumns } as FailedList,
    { key: id, state: 'refused', created_at, body: { max_price: 5000, products: [{ url }] }, message: title },
    '✖ refused',
  ],
  [
    'approval list',
    { columns: approvalColumns } as FailedList,
    {
      id,
      state: 'denied',
      total_cents: 123_456,
      summary: {},
      subject: 'order',
      override: null,
      expires_at: created_at,
    },
    '✖ denied',
  ],
  [
    'search',
    listingList as FailedList,
    { title, price: 123_456, retailer: 'a-long-name-of-a-shop.example', available: false, url },
    '✖ sold out',
  ],
  [
    'product search',
    resultList as FailedList,
    { product_id: id, title, price: 123_456, ship_price: 999, available: false, url },
    '✖ sold out',
  ],
  [
    'product offers',
    offerList as FailedList,
    {
      offer_id: id,
      price: 123_456,
      condition: 'Used - Acceptable',
      seller: { name: title },
      available: false,
    },
    '✖ sold out',
  ],
];

const seen = async (result: Result, columns: number): Promise<string> =>
  (await printed(result, {}, { terminal: true, columns })).out;

/** Joins a row's wrapped lines, so that its sign and state form a single piece. */
const unbroken = ([first = '', ...more]: readonly string[]): string => {
  const at = first.indexOf('✖');
  const goesOn = more.map((line) => line.slice(at).trim()).filter(Boolean);
  const begins = first.slice(at).split(/ {2,}/)[0] ?? '';
  return [first, [begins, ...goesOn].join(' ')].join('\n');
};

describe('no table hides a failure, however narrow', () => {
  test.each(lists.map((list, at) => [...list, widthsOf(at)] as const))(
    '%s',
    async (_, { columns, screen }, row, sign, own) => {
      for (const width of own) {
        const lines = (
          await seen({ kind: 'list', rows: [row], columns, ...(screen && { screen }) }, width)
        ).split('\n');
        expect(`${width}: ${unbroken(lines.slice(1))}`).toContain(sign);
      }
    },
  );

  test('a long list shows the failure of a page whose other rows ended well', async () => {
    const rows = Array.from({ length: 250 }, (_, index) =>
      index === 249
        ? order('cancelled_by_retailer')
        : order('order_placed', { tracking_numbers: [parcel('delivered')] }),
    );
    for (const width of [40, 60, 80, 140])
      expect((await seen({ kind: 'list', rows, ...orderList } as Result, width)).split('\n').at(-2)).toMatch(
        /✖ cancelle|^ *retailer$/,
      );
  });

  test.each([
    ['order get', orderView.screen as readonly Column[], failedOrders[4]?.[0] ?? {}, 2],
    [
      'track',
      trackScreen(undefined) as readonly Column[],
      {
        order_id: id,
        current_status: 'order_placed',
        shipments: [parcel('delivered'), parcel('undeliverable')],
        items: [],
      },
      2,
    ],
    [
      'webhook events of one event',
      eventView.screen as readonly Column[],
      event({
        status: 'order_placed',
        body: { items: [{ status: 'ordered' }], tracking_numbers: [{ status: 'undeliverable' }] },
      }),
      1,
    ],
    [
      'bulk get',
      batchDetailScreen(undefined, new Map()) as readonly Column[],
      batch({ status: 'completed', rows: [{ index: 0, status: 'failed', error: title, recipient: title }] }),
      2,
    ],
  ] as const)('%s, of the record and of the table within it', async (_, columns, record, times) => {
    for (const width of widthsOf(times)) {
      const text = await seen({ kind: 'record', record, columns }, width);
      expect(`${width}: ${text.split('✖').length - 1}`).toBe(`${width}: ${times}`);
    }
  });
});
