import { describe, expect, test } from 'vitest';
import { failedOrderStatuses, orderStatuses, trackingStatuses } from '../../../src/api/enums.ts';
import { errorTypes } from '../../../src/api/error-types.ts';
import { lineState, orderState } from '../../../src/api/order-state.ts';

const stateOf = (
  status: unknown,
  {
    parcels = [],
    items = ['ordered'],
    bought,
    errorType,
  }: { parcels?: string[]; items?: string[]; bought?: number; errorType?: string } = {},
): string => {
  const { text, mood } = orderState({
    status,
    items: items.map((item) => ({ status: item })),
    parcels: parcels.map((parcel) => ({ status: parcel })),
    fulfillment: { concessions: [{ requested_quantity: 5, fulfilled_quantity: bought ?? null }] },
    errorType,
  });
  return `${mood} ${text}`;
};

describe('the one state of an order', () => {
  test.each([
    ['pending', {}, 'waiting waiting'],
    ['in_progress', {}, 'waiting in progress'],
    ['order_placed', {}, 'waiting placed'],
    ['order_placed', { items: ['shipped'] }, 'waiting in transit'],
    ['order_placed', { parcels: ['pending'] }, 'waiting placed'],
    ['order_placed', { parcels: ['in_transit'] }, 'waiting in transit'],
    ['order_placed', { parcels: ['in_transit', 'pending'] }, 'waiting placed'],
    [
      'order_placed',
      { parcels: ['delivered', 'in_transit'], items: ['delivered'] },
      'waiting 1 of 2 delivered',
    ],
    ['order_placed', { parcels: ['delivered'], items: ['delivered'] }, 'good delivered'],
    [
      'order_placed',
      { parcels: ['delivered'], items: ['delivered', 'ordered'] },
      'waiting delivered in part',
    ],
    ['order_placed', { parcels: ['delivered'], items: ['delivered', 'failed'] }, 'bad delivered in part'],
    [
      'order_placed',
      { parcels: ['in_transit'], items: ['shipped', 'skipped'] },
      'waiting in transit in part',
    ],
    ['order_placed', { parcels: ['delivered'], items: ['delivered'], bought: 2 }, 'bad delivered in part'],
    ['order_placed', { parcels: ['delivered'], items: ['delivered'], bought: 5 }, 'good delivered'],
    ['order_placed', { parcels: ['in_transit'], bought: 2 }, 'waiting in transit in part'],
    [
      'order_placed',
      { parcels: ['delivered'], items: ['delivered', 'ordered', 'skipped'], bought: 2 },
      'waiting delivered in part',
    ],
    ['order_placed', { parcels: ['undeliverable'], bought: 2 }, 'bad undeliverable'],
    [
      'order_placed',
      { parcels: ['available_for_pickup'], items: ['available_for_pickup'] },
      'good ready for pickup',
    ],
    ['order_placed', { parcels: ['undeliverable'], items: ['shipped'] }, 'bad undeliverable'],
    [
      'order_placed',
      { parcels: ['delivered', 'undeliverable'], items: ['delivered'] },
      'bad 1 of 2 undeliverable',
    ],
    ['order_placed', { parcels: ['delivered'], items: ['cancelled', 'cancelled'] }, 'bad cancelled'],
    ['order_placed', { items: ['failed', 'skipped'] }, 'bad failed'],
    ['order_failed', { errorType: 'max_price_exceeded' }, 'bad failed: price'],
    ['order_failed', { errorType: 'out_of_stock' }, 'bad failed: out of stock'],
    ['order_failed', { errorType: 'a_newer_type' }, 'bad failed: a newer type'],
    ['order_failed', { errorType: '__proto__' }, 'bad failed:   proto  '],
    ['order_failed', {}, 'bad failed'],
    ['cancelled', {}, 'bad cancelled'],
    ['cancelled_by_retailer', { parcels: ['delivered'] }, 'bad cancelled by retailer'],
    ['a_newer_status', {}, 'waiting a newer status'],
    ['constructor', {}, 'waiting constructor'],
    [undefined, {}, 'waiting '],
  ])('%s %j is %s', (status, parts, state) => {
    expect(stateOf(status, parts)).toBe(state);
  });

  test('nothing that ended badly looks like what ended well, whatever the parcels say', () => {
    for (const status of failedOrderStatuses)
      for (const parcel of trackingStatuses) expect(stateOf(status, { parcels: [parcel] })).toMatch(/^bad /);
    for (const parcel of trackingStatuses)
      expect(stateOf('order_placed', { parcels: [parcel, 'undeliverable'] })).toMatch(/^bad /);
  });

  test('only a placed order that arrived whole ended well', () => {
    for (const status of orderStatuses)
      for (const parcel of trackingStatuses)
        for (const item of ['delivered', 'failed', 'ordered']) {
          const isWhole = status === 'order_placed' && ['delivered', 'available_for_pickup'].includes(parcel);
          const isGood = stateOf(status, { parcels: [parcel], items: ['delivered', item] }).startsWith(
            'good',
          );
          expect(isGood).toBe(isWhole && item === 'delivered');
        }
  });

  test.each([
    ['delivered', false, { text: 'delivered', mood: 'good' }],
    ['delivered', true, { text: 'delivered in part', mood: 'bad' }],
    ['skipped', false, { text: 'skipped', mood: 'bad' }],
    ['shipped', true, { text: 'shipped in part', mood: 'waiting' }],
    ['a_newer_status', true, undefined],
  ])('a line that is %s, short: %s', (status, isShort, state) => {
    expect(lineState(status, isShort)).toEqual(state);
  });

  test('takes what is no order at all', () => {
    for (const parts of [null, 'x', [null], [1], {}] as unknown[])
      expect(orderState({ status: 'order_placed', items: parts, parcels: parts }).text).not.toBe('');
  });

  test('every known reason fits a narrow column', () => {
    for (const errorType of Object.keys(errorTypes))
      expect(stateOf('order_failed', { errorType }).length).toBeLessThanOrEqual(
        'bad failed: quantity limit'.length,
      );
  });
});
