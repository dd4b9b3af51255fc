import {
  defaultTimeouts,
  givenUp,
  inTime,
  type Transport,
  TransportFailure,
  type WireRequest,
} from './transport.ts';

type Chunk = string | Uint8Array;
type Body = Chunk | AsyncIterable<Chunk> | Iterable<Chunk> | null;

/** Type of the sandbox's handler. It is declared here, so that this module does not depend on the sandbox. */
export type EmbeddedHandler = (request: {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  readonly remoteAddress: string;
}) => Promise<{
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Body;
}>;

const noBody = new Uint8Array();

interface EmbeddedOptions {
  readonly headersMs?: number;
  /** Closes the service together with the transport. */
  readonly close?: () => Promise<void>;
}

/**
 * Transport to a service in this process. Calls the handler of the service without opening a socket. Has the same
 * timeouts as the network transport.
 */
export function embeddedTransport(
  handle: EmbeddedHandler,
  { headersMs = defaultTimeouts.headersMs, close = async () => {} }: EmbeddedOptions = {},
): Transport {
  return {
    async send({ method, url, headers, body = noBody, signal }: WireRequest) {
      if (signal.aborted) throw givenUp('not_sent', signal);
      const target = `${url.pathname}${url.search}`;
      const handled = async () =>
        handle({ method, target, headers: { ...headers }, body, remoteAddress: '127.0.0.1' });
      const response = await inTime(handled().catch(fail), signal, headersMs);
      return {
        status: response.status,
        headers: lowerCased(response.headers),
        body: bytes(response.body, signal),
        discard,
      };
    },
    close,
  };
}

const discard = (): void => {};

function fail(cause: unknown): never {
  if (cause instanceof TransportFailure) throw cause;
  const what = cause instanceof Error ? cause.message : String(cause);
  throw new TransportFailure('unknown', `the embedded sandbox failed: ${what}`, {
    isPermanent: true,
    hint: 'Its data is in the state folder that `errand config path` shows.',
    cause,
  });
}

async function* bytes(body: Body, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const chunks = body === null ? [] : typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) throw givenUp('unknown', signal);
      yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
    }
  } catch (error) {
    if (error instanceof TransportFailure) throw error;
    fail(error);
  }
}

/** Yields a body, then fails as if the connection broke. */
export async function* brokenOff(body: Body): AsyncGenerator<Chunk> {
  yield* typeof body === 'string' || body instanceof Uint8Array ? [body] : (body ?? []);
  throw new TransportFailure('unknown', 'the response broke off before its end');
}

const lowerCased = (headers: Record<string, string | string[]>): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
