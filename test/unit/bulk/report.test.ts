import { describe, expect, test } from 'vitest';
import { windowsOf } from '../../../src/bulk/report/read-orders.ts';
import type { Batch } from '../../../src/bulk/upload/batch.ts';

const at = (time: string): number => Date.parse(`2026-11-30T${time}:00Z`);
const batch = (
  status: string,
  created: unknown,
  updated: unknown,
  order: string | null = 'an-order',
): Batch => ({
  id: 'a-batch',
  status,
  created_at: created,
  updated_at: updated,
  rows: [{ index: 0, status: 'placed', order_id: order }],
});
const completed = (from: string, to: string) =>
  batch('completed', `2026-11-30T${from}:00Z`, `2026-11-30T${to}:00Z`);

describe('the time in which the orders of batches were created', () => {
  test('is from a minute before a batch to an hour after its last change', () => {
    expect(windowsOf([completed('10:00', '10:05')])).toEqual([{ from: at('09:59'), to: at('11:05') }]);
  });

  test('is one for batches that were placed together, and another for a retry of the evening', () => {
    expect(
      windowsOf([completed('20:00', '20:01'), completed('10:00', '10:05'), completed('10:30', '10:31')]),
    ).toEqual([
      { from: at('09:59'), to: at('11:31') },
      { from: at('19:59'), to: at('21:01') },
    ]);
  });

  test('has no end while a batch goes on, and no beginning that the service does not say', () => {
    const open = Number.POSITIVE_INFINITY;
    expect(windowsOf([batch('processing', '2026-11-30T10:00:00Z', '2026-11-30T10:01:00Z')])).toEqual([
      { from: at('09:59'), to: open },
    ]);
    for (const nothing of [undefined, null, 'soon', 17, {}])
      expect(windowsOf([batch('processing', nothing, nothing)])).toEqual([{ from: 0, to: open }]);
    // Later than any valid date.
    const last = '+275760-09-13T00:00:00.000Z';
    expect(windowsOf([batch('completed', '2026-11-30T10:00:00Z', last)])).toEqual([
      { from: at('09:59'), to: open },
    ]);
    // A batch that ended before it began is read to the end of the list.
    expect(windowsOf([completed('10:00', '08:00')])).toEqual([{ from: at('09:59'), to: open }]);
  });

  test('is none for a batch that made no order', () => {
    expect(windowsOf([batch('failed', '2026-11-30T10:00:00Z', '2026-11-30T10:01:00Z', null)])).toEqual([]);
  });
});
