import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import { isDropped, shortfallOf, shortfallsIn } from '../../api/order-state.ts';
import type { AttemptState } from '../../journal/attempts.ts';
import type { OrderRecord } from '../order-record.ts';

/** A return, as far as it says what went back. */
export interface ReturnedLines {
  readonly status?: unknown;
  readonly items?: unknown;
}

/** What the service has agreed to take back. */
const granted: ReadonlySet<unknown> = new Set(['approved', 'completed', 'credited']);

/**
 * What became of an attempt, by its order. It was taken back where it is cancelled, or where every unit that was bought
 * went back, whatever was credited. @param returns of the order. Pure.
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

/** Whether the order says that anything of it was sent back: only then its returns have to be read. */
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
  // What was stopped on its way, since it was sent back, is shown as cancelled.
  const bought = objectsIn(order, 'items').filter(
    (line) => back.has(textIn(line, 'id') ?? '') || !isDropped(line.status),
  );
  return bought.every((line) => {
    const quantity = shortfallOf(line, shortfalls)?.bought ?? numberIn(line, 'quantity') ?? 1;
    return (back.get(textIn(line, 'id') ?? '') ?? 0) >= quantity;
  });
}
