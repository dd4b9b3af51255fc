import type { ItemStatus } from '../../contract/enums.ts';
import { limits } from '../../contract/limits.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { UsageError } from '../../errors.ts';
import { checkUuid } from '../ids.ts';
import { parseInteger } from '../parse-option.ts';

export type ReturnItem = Shape<'ReturnRequestCreate'>['items'][number];
type Order = Shape<'OrderResponse'>;

const neverBought: readonly ItemStatus[] = ['skipped', 'failed', 'cancelled'];

/** `ID[=QUANTITY]` of each --item; one unit where none is said. @throws UsageError naming --item and what is wrong. */
export function parseItems(texts: readonly string[]): ReturnItem[] {
  const items = texts.map(parseItem);
  const ids = items.map(({ order_item_id }) => order_item_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new UsageError(`--item ${twice} is given twice; write ${twice}=2 for two`);
  return items;
}

function parseItem(text: string): ReturnItem {
  const [id = '', ...rest] = text.split('=');
  const order_item_id = checkUuid('order item', id);
  if (rest.length === 0) return { order_item_id, quantity: limits.quantity.min };
  return { order_item_id, quantity: parseInteger('--item: the quantity', rest.join('='), limits.quantity) };
}

/** Everything of an order that was bought, as many of each as were. */
export function boughtItems(order: Order): (ReturnItem & { readonly url: string })[] {
  return order.items
    .filter(({ status }) => !neverBought.includes(status))
    .map(({ id, url, quantity }) => {
      const conceded = order.fulfillment?.concessions.find(
        ({ concern, item_id }) => concern === 'quantity' && item_id === id,
      );
      return { order_item_id: id, quantity: conceded?.fulfilled_quantity ?? quantity, url };
    });
}
