import { isFailedOrder } from '../../api/order-state.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { absentAsNull, isOtherThanRequested } from '../compare.ts';
import { stateOfOrder } from '../order-record.ts';
import { readOrder } from './existing.ts';
import { asOrder, makesOrder } from './intent.ts';

/** What has become of an order that the journal knows, as the service says now. */
export interface CurrentState {
  readonly status: string;
  /** As people read it: `waiting`, `delivered`, `failed: price`. */
  readonly text: string;
  /** It failed or was cancelled, so that nothing comes of it. */
  readonly hasEnded: boolean;
}

const maxText = 60;

/**
 * Reads what has become of the order of a record; undefined where the record is of no order.
 * @throws ErrandError where the order cannot be read, or the service describes another one.
 */
export async function currentState(
  context: OrderContext,
  record: JournalRecord,
): Promise<CurrentState | undefined> {
  const { operation, order_id: id } = record;
  if (id === null || !makesOrder(operation)) return undefined;
  const order = await readOrder(await context.client(), id);
  // The record of a retry does not say what is ordered.
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

/** What is said of an order while nobody has read what became of it. */
export const sentText = ({ settled_at: at, created_at: since, order_id: id }: JournalRecord): string =>
  `the same order was sent at ${at ?? since}: ${id}`;

/** What is said of an order that stands in nobody's way, since it has ended. */
export const endedText = (
  { settled_at: at, created_at: since, order_id: id }: JournalRecord,
  { text }: CurrentState,
): string => `the same order of ${at ?? since} has ended (${text}): ${id}`;
