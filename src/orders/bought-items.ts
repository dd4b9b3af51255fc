import type { ItemStatus } from '../api/enums.ts';
import { numberIn, objectsIn, textIn } from '../api/json.ts';
import { limits, uuidPattern } from '../api/limits.ts';
import type { Received } from '../api/received.ts';
import type { Shape } from '../api/schemas/index.ts';
import { plainText } from '../format/path.ts';
import { ErrandError } from '../platform/errors.ts';

const neverBought: readonly ItemStatus[] = ['skipped', 'failed', 'cancelled'];

/** A line of an order of which something was bought, with the quantity bought. */
export type BoughtItem = Shape<'ReturnRequestCreate'>['items'][number] & { readonly url: string };

/**
 * All lines of an order of which something was bought, with the quantities bought.
 * @throws ErrandError if the service does not report the quantities.
 */
export function boughtItems(order: Received<'order.get'>): BoughtItem[] {
  const conceded = objectsIn(order.fulfillment, 'concessions').filter(
    ({ concern }) => concern === 'quantity',
  );
  return objectsIn(order, 'items')
    .filter((item) => !neverBought.some((status) => status === item.status))
    .map((item) => {
      const id = textIn(item, 'id') ?? '';
      const fulfilled = conceded.find(({ item_id }) => item_id === id);
      const quantity = numberIn(fulfilled, 'fulfilled_quantity') ?? numberIn(item, 'quantity') ?? 0;
      if (!uuidPattern.test(id) || !Number.isSafeInteger(quantity) || quantity < limits.quantity.min)
        throw new ErrandError(
          'unavailable',
          `the service does not say what was bought with order ${order.id}`,
          {
            outcome: 'not_sent',
            hint: 'Name the items with --item.',
          },
        );
      return { order_item_id: id, quantity, url: plainText(item.url) };
    });
}
