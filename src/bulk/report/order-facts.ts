import { isObject, type JsonObject, objectsIn, own, textIn } from '../../api/json.ts';
import type { ShownState } from '../../api/order-state.ts';
import { valueAt } from '../../api/received.ts';
import { plainText } from '../../format/path.ts';
import { concessionText, sentences } from '../../orders/concessions.ts';
import {
  type IdentifiedOrder,
  type Order,
  type OrderRecord,
  stateOfOrder,
} from '../../orders/order-record.ts';
import { quotedOf } from '../../orders/screen.ts';
import type { MoneyLine, MoneySum, Payer } from '../../spending/money-lines.ts';
import { moneyOf } from '../../spending/money-of-order.ts';
import { centsIn } from '../../spending/price-of-order.ts';

/** What a report says of an order: a part of its record, so that thousands fit into memory. Amounts in minor units. */
export interface OrderFacts {
  readonly id: string;
  readonly status: string;
  readonly state: ShownState;
  /** ISO 8601; empty where the service does not say it. */
  readonly createdAt: string;
  readonly ceiling: number | undefined;
  readonly payer: Payer;
  readonly sums: readonly MoneySum[];
  /** Of which kinds of amounts a part at least follows from the service's rules alone. */
  readonly byRule: readonly MoneyLine['what'][];
  /** False where the order does not say all its amounts. */
  readonly isComplete: boolean;
  readonly quoted: { readonly cents: number; readonly currency: string } | undefined;
  readonly tracking: readonly string[];
  /** `max_price_exceeded`; empty where it has not failed. */
  readonly errorType: string;
  /** In words: why it failed, or what was relaxed. */
  readonly reason: string;
  readonly metadata: JsonObject | undefined;
  /** What names its products. */
  readonly named: OrderRecord;
}

/** @param feeCents what the service takes for an order. Pure. */
export function factsOf(order: IdentifiedOrder, feeCents: number | undefined): OrderFacts {
  const { payer, lines, sums, isComplete } = moneyOf(order, { feeCents });
  const { metadata } = order;
  return {
    id: order.id,
    status: plainText(order.status),
    state: stateOfOrder(order),
    createdAt: textIn(order, 'created_at') ?? '',
    ceiling: centsIn(order, 'max_price'),
    payer,
    sums,
    byRule: [...new Set(lines.flatMap(({ what, basis }) => (basis === 'by_rule' ? [what] : [])))],
    isComplete,
    quoted: quotedOf(order),
    tracking: objectsIn(order, 'tracking_numbers').flatMap((one) => textIn(one, 'tracking_number') || []),
    errorType: plainText(valueAt<Order>(order, 'job_result.error_type')),
    reason: reasonIn(order),
    metadata: isObject(metadata) && Object.keys(metadata).length > 0 ? metadata : undefined,
    named: naming(order),
  };
}

function reasonIn(order: OrderRecord): string {
  const failure = plainText(valueAt<Order>(order, 'job_result.error'));
  if (failure !== '') return failure;
  return sentences(objectsIn(order.fulfillment, 'concessions').map(concessionText));
}

/** Of the record only what `productsOf` reads. */
function naming(order: OrderRecord): OrderRecord {
  const price = valueAt<Order>(order, 'job_result.price_components');
  return {
    status: order.status,
    items: objectsIn(order, 'items').map(({ id, url, quantity }) => ({ id, url, quantity })),
    fulfillment: { concessions: own(order.fulfillment, 'concessions') },
    job_result: {
      price_components: {
        cart_items: objectsIn(price, 'cart_items').map(({ name, product_id, quantity }) => ({
          name,
          product_id,
          quantity,
        })),
      },
    },
  };
}
