import { describe, expect, it } from 'vitest';
import { checkShape } from '../../../../../src/api/schemas/check.ts';
import {
  advance,
  createOrder,
  milestones,
  publicTracking,
} from '../../../../../src/sandbox/orders/lifecycle/index.ts';
import { address, live, newOrder, secondsIn, shop } from './order.ts';

describe('public tracking', () => {
  const life = live(newOrder({ products: [shop('test-two-packages')], metadata: { note: 'secret' } }));
  const view = publicTracking(life.record);

  it('never tells whom the order is for, or more than the contract allows', () => {
    expect(checkShape('PublicTrackingResponse', view, 'response').issues).toBeUndefined();
    const shown = JSON.stringify(view);
    for (const secret of [address.first_name, address.last_name, address.phone_number, 'secret']) {
      expect(shown).not.toContain(secret);
    }
  });

  it('shows each parcel and the latest estimate', () => {
    expect(view.shipments.map(({ status, checkpoints }) => [status, checkpoints.length])).toEqual([
      ['delivered', 5],
      ['delivered', 5],
    ]);
    expect(view.estimated_delivery_date).toBe(life.record.tracking_numbers[0]?.estimated_delivery_date);
  });
});

describe('the timeline', () => {
  it('has the shape of the contract at every moment and runs forward', () => {
    const { steps } = live(newOrder({ products: [shop('test-two-packages')] }));
    for (const { record } of steps) {
      const timeline = milestones(record);
      expect(checkShape('OrderTimelineResponse', timeline, 'response').issues).toBeUndefined();
      const times = timeline.milestones.map(({ occurred_at }) => occurred_at);
      expect(times).toEqual(times.toSorted());
      expect(times.at(-1)?.localeCompare(record.updated_at)).toBeLessThanOrEqual(0);
    }
  });

  it('says why an order failed', () => {
    const { record } = live(newOrder({ products: [shop('test-out-of-stock')] }));
    expect(milestones(record).milestones.at(-1)).toMatchObject({
      type: 'order_failed',
      detail: { error: 'The item is out of stock.', error_type: 'out_of_stock' },
    });
  });
});

describe('a tracking number', () => {
  const at = (s: number) => advance(createOrder(newOrder()), secondsIn(s)).record.tracking_numbers[0];

  it('has no estimate and no proof until the carrier reports them', () => {
    expect(at(4)).toMatchObject({
      status: 'pending',
      estimated_delivery_date: null,
      delivery_proof_url: null,
    });
    expect(at(6.2)).toMatchObject({ status: 'in_transit', delivery_proof_url: null });
    expect(at(6.2)?.estimated_delivery_date).toMatch(/^2026-10-1\d$/);
    expect(at(10)?.delivery_proof_url).toContain('/proof/XX');
  });

  it('lists checkpoints most recent first, ending in the city of the address', () => {
    const points = at(10)?.checkpoints ?? [];
    expect(points.map(({ status }) => status)).toEqual([
      'delivered',
      'in_transit',
      'in_transit',
      'in_transit',
      'pending',
    ]);
    const times = points.map(({ checkpoint_time }) => checkpoint_time);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(points[0]).toMatchObject({ city: 'Austin', state: 'TX', zip: '73301', country: 'US' });
    expect(points[2]).toMatchObject({ city: 'Dallas', state: 'TX' });
  });

  it('goes through sorting centres of the destination country, whatever form its postal code has', () => {
    const last = (country: string, postal_code: string) => {
      const shipping_address = { ...address, country, postal_code, city: 'Ort', state: null };
      const { record } = live(newOrder({ shipping_address }));
      return record.tracking_numbers[0]?.checkpoints?.[2]?.location;
    };
    expect(last('DE', '80331')).toBe('München, BY 80331, DE');
    expect(last('IT', '20121')).toBe('Milano, MI 20121, IT');
    expect(last('DE', 'D-10115')).toBe('Leipzig, SN 04109, DE');
    expect(last('FR', '75001')).toBe('Ort, 75001, FR');
  });
});
