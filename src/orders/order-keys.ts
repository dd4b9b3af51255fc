import type { KeySource } from '../http/credentials.ts';
import { paidElsewhere } from '../journal/grants.ts';
import type { Journal } from '../journal/journal.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { ErrandError, StorageError } from '../platform/errors.ts';
import type { OrderContext, OrderSettings } from '../run/order-context.ts';

/** The parts of a context needed to find the keys of orders. */
interface KeyReader extends Pick<OrderContext, 'journal'> {
  /** `apiKey` is undefined if the run uses no account. */
  readonly settings: Pick<OrderSettings, 'baseUrl' | 'folders' | 'database'> & { readonly apiKey?: unknown };
}

/**
 * Temporary key of an order that was paid for without an account; undefined if there is no such key.
 * @throws ErrandError conflict if another machine has paid for the order.
 */
export async function orderKey(context: KeyReader, orderId: string): Promise<string | undefined> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return undefined;
  let grant: ReturnType<Journal['grants']['of']>;
  try {
    const journal = await context.journal();
    grant = journal.grants.of(orderId, baseUrl.value);
    // If the run uses no account, the order was paid for by challenge. Another machine may just have placed the order,
    // so read the journal again.
    if (!grant && journal.isShared && context.settings.apiKey === undefined) {
      await journal.refresh('now');
      grant = journal.grants.of(orderId, baseUrl.value);
    }
  } catch (error) {
    // Even without the journal, the account's key can read the account's own orders.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
  if (!grant?.isOfOtherMachine) return grant?.apiKey;
  throw new ErrandError(
    'conflict',
    `the order ${orderId} was paid for by another machine, which alone can read it`,
    {
      code: paidElsewhere,
      details: { order_id: orderId },
      retryable: false,
    },
  );
}

/** Key source for reading an order. If the order has a key of its own, returns that key. */
export const orderKeys =
  (context: KeyReader): KeySource =>
  ({ auth, orderId }) =>
    auth === 'bearer' && orderId !== undefined ? orderKey(context, orderId) : undefined;
