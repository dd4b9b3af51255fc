import { existsSync } from 'node:fs';
import type { Context } from './context.ts';
import { operations } from './contract/operations/index.ts';
import { StorageError } from './errors.ts';
import type { Client } from './http/client.ts';
import { journalFile } from './state/journal-tables.ts';

/** The temporary key of an order that was paid for without an account, where this machine ordered it. */
export async function orderKey(context: Context, orderId: string): Promise<string | undefined> {
  const { folders, baseUrl } = context.settings;
  if (!existsSync(journalFile(folders.state))) return undefined;
  try {
    return (await context.journal()).grants.of(orderId, baseUrl.value)?.apiKey;
  } catch (error) {
    // Orders of the account can be looked at all the same.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

/** A client that reads an order by the order's own key, where it has one. */
export function withOrderKeys(
  client: Client,
  keyOf: (orderId: string) => Promise<string | undefined>,
  make: (key: string) => Client,
): Client {
  return {
    ...client,
    async call(name, input, options) {
      const id =
        operations[name].auth === 'bearer' && operations[name].method === 'GET'
          ? orderIdOf(input)
          : undefined;
      const key = id === undefined ? undefined : await keyOf(id);
      return (key === undefined ? client : make(key)).call(name, input, options);
    },
  };
}

function orderIdOf(input: unknown): string | undefined {
  const id: unknown = Object(Object(input).path).order_id;
  return typeof id === 'string' ? id : undefined;
}
