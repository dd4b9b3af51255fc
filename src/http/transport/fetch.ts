import { networkFailure } from '../response.ts';
import {
  defaultTimeouts,
  givenUp,
  inTime,
  type Transport,
  TransportFailure,
  type WireRequest,
} from './transport.ts';

/** A function like the global `fetch`. Called with the URL as text. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Sends requests with a function like `fetch`. The failures of such a function say little, so after any failure the
 * request may have reached the service. Has the same timeouts as the network transport.
 */
export function fetchTransport(fetch: FetchLike, headersMs = defaultTimeouts.headersMs): Transport {
  return {
    async send({ method, url, headers, body, signal }: WireRequest) {
      if (signal.aborted) throw givenUp('not_sent', signal);
      const called = async (): Promise<Response> =>
        fetch(url.href, {
          method,
          headers: { ...headers },
          ...(body && { body: new TextDecoder().decode(body) }),
          redirect: 'manual',
          signal,
        });
      const responding = called();
      try {
        const response = await inTime(responding.catch(fail), signal, headersMs);
        if (!isResponse(response)) {
          const message = 'the transport returned no response with a status and headers';
          throw new TransportFailure('unknown', message, { isPermanent: true });
        }
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: chunks(response.body),
          discard: () => discard(response),
        };
      } catch (error) {
        // Discard a response that arrives late, because nobody reads it.
        responding.then(discard, () => {});
        throw error;
      }
    },
    close: async () => {},
  };
}

const fail = (error: unknown): never => {
  throw networkFailure(error, 'unknown');
};

/** The types do not guarantee what a custom function returns. Browsers report a redirect as status 0. */
const isResponse = (value: Partial<Response> | undefined): boolean =>
  typeof value?.status === 'number' && value.status >= 100 && Symbol.iterator in Object(value.headers);

function discard(response: Response): void {
  if (response?.body?.locked === false) response.body.cancel().catch(() => {});
}

async function* chunks(body: Response['body']): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (error) {
    fail(error);
  }
}
