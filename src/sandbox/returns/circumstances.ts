import type { ItemStatus } from '../../api/enums.ts';
import type { OrderRecord } from '../orders/lifecycle/index.ts';
import { drawFor } from '../orders/lifecycle/schedule.ts';
import type { Service } from '../server/service.ts';
import { creditFor } from './credit.ts';
import type { Circumstances } from './lifecycle.ts';
import type { ReturnRecord } from './types.ts';

const gone: readonly ItemStatus[] = ['shipped', 'available_for_pickup', 'delivered'];

/** What a return's outcome depends on besides its reason. @param others the order's other returns. */
export function circumstancesOf(
  { config, identity }: Pick<Service, 'config' | 'identity'>,
  order: OrderRecord,
  { id, items }: ReturnRecord,
  others: readonly ReturnRecord[],
): Circumstances {
  const ids = items.map(({ order_item_id }) => order_item_id);
  const taken = others.filter(({ status }) => status !== 'denied').map((other) => other.items);
  return {
    credit: creditFor(order, items, taken),
    hasShipped: order.items.some((item) => ids.includes(item.id) && gone.includes(item.status)),
    // One parcel, and so one label, for each item.
    labels: items.length,
    merchantReturnId: `RMA-${drawFor(identity.seed, id).digits('merchant return', 10)}`,
    speed: config.speed,
  };
}
