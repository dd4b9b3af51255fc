import { onTestFinished } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../src/http/client.ts';
import { type NetworkOptions, NetworkTransport } from '../../src/http/transport/network.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { ErrandError } from '../../src/platform/errors.ts';

export const testKey = 'xx_test_0123456789abcdef0123';
export const orderId = '0b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11';

/** A clock whose sleeps return at once and are recorded, ms. */
export interface InstantClock extends Clock {
  readonly slept: number[];
}

export function instantClock(start = Date.parse('2026-11-21T10:00:00Z')): InstantClock {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    monotonic: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

export interface Caller {
  readonly client: Client;
  readonly clock: InstantClock;
  readonly controller: AbortController;
}

/** Send every request with undici, not only those after the first few. */
const isByUndici = process.env.CARRIER === 'undici';

/** Creates a client for a network service, with a key and an instant clock. */
export function caller(
  baseUrl: string,
  {
    network = {},
    apiKey = testKey,
    legacyToken,
    ...more
  }: Partial<ClientOptions> & {
    network?: NetworkOptions;
    /** null means no key. */
    apiKey?: string | null;
    legacyToken?: string;
  } = {},
): Caller {
  const clock = instantClock();
  const controller = new AbortController();
  const client = createClient({
    transport: new NetworkTransport({ ...(isByUndici && { plain: 0 }), ...network }),
    baseUrl,
    credentials: ({ auth }) => (auth === 'bearer' ? (apiKey ?? undefined) : legacyToken),
    clock,
    signal: controller.signal,
    random: () => 1,
    version: '0.0.0',
    ...more,
  });
  onTestFinished(() => client.close());
  return { client, clock, controller };
}

/** Returns the error a call rejects with; fails if it succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<ErrandError> {
  const error: unknown = await call.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ErrandError) return error;
  throw error;
}

export const orderBody = {
  products: [{ url: 'https://shop.example/p/1', quantity: 1 }],
  shipping_address: {
    first_name: 'Ada',
    last_name: 'Byron',
    address_line1: '1 Main St',
    city: 'Springfield',
    state: 'IL',
    postal_code: '62701',
    country: 'US',
    phone_number: '5550100',
  },
  max_price: 5000,
};
export const keyedOrder = { ...orderBody, idempotency_key: 'intent-1' };
export const order = { id: orderId, status: 'pending' };

export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}
