import type { Client as HttpClient } from '../../http/client.ts';
import type { KeySource } from '../../http/credentials.ts';
import type { ServiceClock } from '../../platform/clock.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Client } from './client-types.ts';

/** The parts of a client that other entry points need. */
export interface ClientParts {
  /** Normalized. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly serviceClock: ServiceClock;
  /** Aborts every call of the client; closing the client does. */
  readonly signal: AbortSignal;
  /**
   * Returns the same client with an additional abort signal. `keys` takes precedence over the client's own key in
   * requests about single orders.
   */
  under(signal: AbortSignal | undefined, keys: KeySource): HttpClient;
}

const parts = new WeakMap<Client, ClientParts>();

export const setClientParts = (client: Client, of: ClientParts): void => void parts.set(client, of);

/** @throws UsageError for a client that was not created by createClient. */
export function partsOf(client: Client): ClientParts {
  const found = typeof client === 'object' && client !== null ? parts.get(client) : undefined;
  if (found) return found;
  throw new UsageError('the client is not one that createClient made');
}
