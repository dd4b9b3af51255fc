import { isFailedOrder } from '../../api/order-state.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { absentAsNull, isOtherThanRequested } from '../compare.ts';
import { stateOfOrder } from '../order-record.ts';
import { readOrder } from './existing.ts';
import { asOrder, makesOrder } from './intent.ts';

/** Current state of a journaled order, according to the service. */
export interface CurrentState {
  readonly status: string;
  /** Human-readable: `waiting`, `delivered`, `failed: price`. */
  readonly text: string;
  /** Whether the order has failed or was cancelled, so that it will not be delivered. */
  readonly hasEnded: boolean;
}

const maxText = 60;

/**
 * Fetches the state of a record's order. Undefined if the record is not about an order.
 * @throws ErrandError if the order cannot be read, or if the service describes another order.
 */
export async function currentState(
  context: OrderContext,
  record: JournalRecord,
): Promise<CurrentState | undefined> {
  const { operation, order_id: id } = record;
  if (id === null || !makesOrder(operation)) return undefined;
  const order = await readOrder(await context.client(), id);
  // The record of a retry does not contain what was ordered, so the two cannot be compared.
  const isOther =
    operation !== 'legacy.retry' && isOtherThanRequested(await asOrder(record), absentAsNull(order));
  if (isOther)
    throw new ErrandError('in_doubt', 'the service describes another order under this id', {
      outcome: 'unknown',
    });
  const { status } = order;
  const text = safeText(stateOfOrder(order).text, maxText);
  return { status, text, hasEnded: isFailedOrder(status) };
}

/** Text about a repeated order if the state of the earlier order was not fetched. */
export const sentText = ({ settled_at: at, created_at: since, order_id: id }: JournalRecord): string =>
  `the same order was sent at ${at ?? since}: ${id}`;

/** Text about an earlier, identical order that has ended. Such an order does not block a new one. */
export const endedText = (
  { settled_at: at, created_at: since, order_id: id }: JournalRecord,
  { text }: CurrentState,
): string => `the same order of ${at ?? since} has ended (${text}): ${id}`;
