import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import { isDropped, shortfallOf, shortfallsIn } from '../../api/order-state.ts';
import type { AttemptState } from '../../journal/attempts.ts';
import type { OrderRecord } from '../order-record.ts';

/** The fields of a return that say which units were returned. */
export interface ReturnedLines {
  readonly status?: unknown;
  readonly items?: unknown;
}

/** States of a return that the service has accepted. */
const granted: ReadonlySet<unknown> = new Set(['approved', 'completed', 'credited']);

/**
 * Derives the state of an attempt from the attempt's order. An attempt counts as returned only if every purchased unit
 * was returned, whatever was credited.
 * @param returns are the returns of the order. Pure.
 */
export function attemptState(order: OrderRecord, returns: readonly ReturnedLines[]): AttemptState {
  switch (order.status) {
    case 'order_failed':
    case 'cancelled_by_retailer':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
    default:
      return isReturned(order, returns) ? 'returned' : 'placed';
  }
}

/** Whether the order shows an accepted return. If it does not, the returns need not be read. */
export const mayBeReturned = ({ returns }: OrderRecord): boolean =>
  objectsIn({ returns }, 'returns').some(({ status }) => granted.has(status));

function isReturned(order: OrderRecord, returns: readonly ReturnedLines[]): boolean {
  const back = new Map<string, number>();
  for (const one of returns) {
    if (!granted.has(one.status)) continue;
    for (const line of objectsIn(one, 'items')) {
      const id = textIn(line, 'order_item_id') ?? '';
      back.set(id, (back.get(id) ?? 0) + (numberIn(line, 'quantity') ?? 1));
    }
  }
  if (back.size === 0) return false;
  const shortfalls = shortfallsIn(order.fulfillment);
  // The service may show returned units as cancelled, so include every line that has a return.
  const bought = objectsIn(order, 'items').filter(
    (line) => back.has(textIn(line, 'id') ?? '') || !isDropped(line.status),
  );
  return bought.every((line) => {
    const quantity = shortfallOf(line, shortfalls)?.bought ?? numberIn(line, 'quantity') ?? 1;
    return (back.get(textIn(line, 'id') ?? '') ?? 0) >= quantity;
  });
}
