import type { Client as HttpClient } from '../../http/client.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Client } from './client-types.ts';

/** What another door needs of a client. */
export interface ClientParts {
  /** In its one form. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The same client, whose calls another signal ends too. */
  under(signal: AbortSignal | undefined): HttpClient;
}

const parts = new WeakMap<Client, ClientParts>();

export const keepClientParts = (client: Client, of: ClientParts): void => void parts.set(client, of);

/** @throws UsageError for what createClient has not made. */
export function partsOf(client: Client): ClientParts {
  const found = typeof client === 'object' && client !== null ? parts.get(client) : undefined;
  if (found) return found;
  throw new UsageError('the client is not one that createClient made');
}
