import type { KeySource } from '../http/credentials.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { StorageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/** Temporary key of an order paid without an account; undefined if this machine did not place the order. */
export async function orderKey(context: Context, orderId: string): Promise<string | undefined> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return undefined;
  try {
    return (await context.journal()).grants.of(orderId, baseUrl.value)?.apiKey;
  } catch (error) {
    // The account's own orders are readable even without the journal.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

/** Key source that reads an order with its own key, if the order has one. */
export const orderKeys =
  (context: Context): KeySource =>
  ({ auth, orderId }) =>
    auth === 'bearer' && orderId !== undefined ? orderKey(context, orderId) : undefined;
