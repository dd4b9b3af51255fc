import type { KeySource } from '../http/credentials.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { StorageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/** The temporary key of an order that was paid for without an account, where this machine ordered it. */
export async function orderKey(context: Context, orderId: string): Promise<string | undefined> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return undefined;
  try {
    return (await context.journal()).grants.of(orderId, baseUrl.value)?.apiKey;
  } catch (error) {
    // Orders of the account can be looked at all the same.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

/** Reads an order by the order's own key, where it has one. */
export const orderKeys =
  (context: Context): KeySource =>
  ({ auth, orderId }) =>
    auth === 'bearer' && orderId !== undefined ? orderKey(context, orderId) : undefined;
