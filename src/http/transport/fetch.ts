import { networkFailure } from '../response.ts';
import {
  defaultTimeouts,
  givenUp,
  inTime,
  type Transport,
  TransportFailure,
  type WireRequest,
} from './transport.ts';

/** A function like the global `fetch`, called with an address as text. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Sends by a function like `fetch`. What it does when it fails nobody knows, so that every failure may have reached the
 * service. Times out as the network does.
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
          body: pieces(response.body),
          discard: () => discard(response),
        };
      } catch (error) {
        // One that comes too late is read by nobody.
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

/** Types are no promise of what a function of somebody's own returns. 0 is what a browser makes of a redirect. */
const isResponse = (value: Partial<Response> | undefined): boolean =>
  typeof value?.status === 'number' && value.status >= 100 && Symbol.iterator in Object(value.headers);

function discard(response: Response): void {
  if (response?.body?.locked === false) response.body.cancel().catch(() => {});
}

async function* pieces(body: Response['body']): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body ?? []) yield piece;
  } catch (error) {
    fail(error);
  }
}
