import type { ItemStatus } from '../../api/enums.ts';
import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import { limits, uuidPattern } from '../../api/limits.ts';
import type { Received } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { plainText } from '../../format/path.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { checkUuid } from '../../run/ids.ts';
import { parseInteger } from '../../run/parse-option.ts';

export type ReturnItem = Shape<'ReturnRequestCreate'>['items'][number];

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

type BoughtItem = ReturnItem & { readonly url: string };

/** Everything of an order that was bought, as many of each as were. @throws ErrandError where the service does not say. */
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
