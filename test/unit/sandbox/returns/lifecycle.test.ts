import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { returnReasons } from '../../../../src/api/enums.ts';
import type { ReturnState } from '../../../../src/sandbox/returns/lifecycle.ts';
import {
  advanceReturn,
  type Circumstances,
  closeReturn,
  forceReturnState,
  planReturn,
} from '../../../../src/sandbox/returns/lifecycle.ts';

const createdAt = Date.parse('2026-03-01T12:00:00Z');
const id = '00000000-0000-4000-8000-000000000000';

const facts: Circumstances = {
  credit: 1_999,
  hasShipped: true,
  labels: 1,
  merchantReturnId: 'RMA-1',
  speed: 1,
};

function newReturn(reason: (typeof returnReasons)[number], more: Partial<Circumstances> = {}): ReturnState {
  const time = new Date(createdAt).toISOString();
  return {
    record: {
      id,
      order_id: id,
      status: 'open',
      reason,
      notes: null,
      resolution_notes: null,
      items: [{ order_item_id: id, quantity: 1 }],
      label_urls: [],
      merchant_return_id: null,
      credited_amount: 0,
      created_at: time,
      updated_at: time,
    },
    plan: planReturn(reason, createdAt, { ...facts, ...more }),
    labels: 0,
  };
}

const reasons = fc.constantFrom(...returnReasons);
const moments = fc.array(fc.nat(8_000), { maxLength: 10 }).map((all) => all.toSorted((a, b) => a - b));
const circumstances = fc.record({ credit: fc.constantFrom(0, 1_999), hasShipped: fc.boolean() });

describe('the life of a return', () => {
  test('is the same however often somebody looks', () => {
    fc.assert(
      fc.property(reasons, circumstances, moments, (reason, more, looks) => {
        const made = newReturn(reason, more);
        const end = createdAt + 10_000;
        const looked = looks.reduce<ReturnState>((state, ms) => advanceReturn(state, createdAt + ms), made);
        const { steps: _, ...onward } = advanceReturn(looked, end);
        const { steps, ...atOnce } = advanceReturn(made, end);
        expect(onward).toEqual(atOnce);
        expect(steps.reduce((sum, { credit = 0 }) => sum + credit, 0)).toBe(atOnce.record.credited_amount);
      }),
    );
  });

  test('pays nothing twice, wherever it is closed or forced', () => {
    fc.assert(
      fc.property(reasons, circumstances, fc.nat(8_000), (reason, more, ms) => {
        const now = createdAt + ms;
        const made = newReturn(reason, more);
        const closed = closeReturn(made, now);
        expect(closed.record.credited_amount).toBe(0);
        expect(closed.steps.reduce((sum, { credit = 0 }) => sum + credit, 0)).toBe(0);
        expect(closed.plan).toEqual([]);
        for (const kind of ['approved', 'denied', 'credited'] as const) {
          const forced = forceReturnState(made, kind, now, { ...facts, ...more });
          if ('refused' in forced) continue;
          const ended = advanceReturn(forced, now + 10_000).record;
          expect(forced.record.status).toBe(kind);
          expect(ended.credited_amount).toBe(kind === 'denied' ? 0 : more.credit);
        }
      }),
    );
  });

  test('goes faster with the speed of the sandbox', () => {
    const quick = newReturn('damaged', { speed: 100 });
    expect(advanceReturn(quick, createdAt + 60).record.status).toBe('credited');
    expect(advanceReturn(newReturn('damaged'), createdAt + 60).record.status).toBe('open');
  });
});
