import { describe, expect, test } from 'vitest';
import { defaultPace, paceFor, verdictOf } from '../../../src/orders/watch-policy.ts';

const order = (status: string, parcels: string[] = [], items: string[] = []) => ({
  status,
  tracking_numbers: parcels.map((parcel) => ({ status: parcel })),
  items: items.map((item) => ({ status: item })),
});

describe('what is awaited', () => {
  test.each([
    [order('pending'), 'waiting'],
    [order('in_progress'), 'waiting'],
    [order('a_newer_status'), 'waiting'],
    [order('order_failed'), 'failed'],
    [order('cancelled'), 'failed'],
    [order('cancelled_by_retailer'), 'failed'],
    [order('order_placed'), 'waiting'],
    [order('order_placed', ['in_transit']), 'waiting'],
    [order('order_placed', ['delivered', 'in_transit']), 'waiting'],
    [order('order_placed', ['delivered'], ['delivered', 'shipped']), 'waiting'],
    [order('order_placed', ['delivered'], ['delivered', 'skipped']), 'reached'],
    [order('order_placed', ['delivered', 'available_for_pickup'], ['delivered']), 'reached'],
    [order('order_placed', ['undeliverable'], ['shipped']), 'failed'],
    [order('order_placed', ['undeliverable', 'in_transit']), 'waiting'],
    [order('order_placed', [], ['cancelled', 'skipped']), 'failed'],
    [order('order_placed', ['delivered'], ['cancelled', 'delivered']), 'reached'],
  ])('delivery: %j is %s', (record, verdict) => {
    expect(verdictOf(record, 'delivered')).toBe(verdict);
  });

  test('placed is reached as soon as the retailer has the order', () => {
    expect(verdictOf(order('order_placed'), 'placed')).toBe('reached');
    expect(verdictOf(order('order_failed'), 'placed')).toBe('failed');
  });
});

test('a live order is polled after minutes first, one of a sandbox after half a second', () => {
  expect(paceFor(true, 60_000)).toBe(defaultPace);
  expect(paceFor(false, undefined)).toEqual({ minMs: 120_000, maxMs: 300_000 });
  expect(paceFor(false, 3_600_000).minMs).toBe(120_000);
  expect(paceFor(false, 60_000).minMs).toBe(15_000);
  expect(paceFor(false, 0).minMs).toBe(500);
});
