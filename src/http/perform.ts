import type { AsSent } from '../format/raw-records.ts';
import { type Clock, realMs } from '../platform/clock.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { secretsSent } from '../platform/redact/secrets-sent.ts';
import type { Advice } from './advice.ts';
import { type Attempted, sendWithRetries } from './attempts.ts';
import { UnavailableError } from './errors.ts';
import { failureOf } from './failed-request.ts';
import { type Prepared, requestLine } from './request.ts';
import { Scope } from './scope.ts';
import type { SendOptions, ServiceResponse } from './send.ts';
import type { Trace } from './trace.ts';
import { type Transport, TransportFailure } from './transport/transport.ts';

/** What every request of a client has in common. */
export interface Connection {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For one call with all its attempts; for what is streamed, until the response begins, and each pause within it. */
  readonly timeoutMs: number | undefined;
  readonly retries: number | undefined;
  readonly random: () => number;
  readonly trace: Trace | undefined;
  readonly allowPlainHttp: boolean;
  readonly advice: Advice;
}

export interface CallOptions {
  /** Ends this one call, besides the client's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** The header that pays, for an operation that is paid by challenge. */
  readonly payment?: string | undefined;
  /** In place of the client's own. */
  readonly timeoutMs?: number | undefined;
  /** It takes no longer than this, ms, whatever its timeout. */
  readonly mostMs?: number | undefined;
  /** Takes the records of a list in the service's own JSON, where it has no spaces; the body then has none. */
  readonly takeSent?: ((sent: AsSent) => void) | undefined;
}

export interface Performed {
  readonly response: ServiceResponse;
  readonly ended: Attempted;
}

type Handling = Pick<SendOptions, 'streams' | 'follow' | 'isForeign'> & CallOptions;

/**
 * Sends a request with its retries and reads its response, or the beginning of it where it is to be streamed.
 * @throws ErrandError for everything but a 2xx.
 */
export async function perform(
  connection: Connection,
  request: Prepared,
  credential: string | undefined,
  handling: Handling,
): Promise<Performed> {
  const { clock, advice } = connection;
  const timeoutMs = least(handling.timeoutMs ?? connection.timeoutMs, handling.mostMs);
  const scope = new Scope([connection.signal, handling.signal], timeoutMs);
  const deadline = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
  const headers =
    credential === undefined ? request.headers : { ...request.headers, authorization: credential };
  const { method, url, body, retry } = request;
  // Whatever responds may repeat the request.
  redactor.remember(secretsSent({ url, headers, body }));
  let isStreaming = false;
  try {
    const ended = await sendWithRetries(
      { method, url, headers, body, signal: scope.signal },
      { ...connection, ...handling, now: realMs, retry, deadline, scope },
    );
    const { response } = ended;
    if (!response || response.status >= 300)
      throw failureOf(request, ended, { timeoutMs, reason: scope.reason, advice });
    if (response.stream === undefined) return { response, ended };
    isStreaming = true;
    scope.liftDeadline();
    return {
      response: {
        ...response,
        stream: watched(response.stream, request, ended, scope, { timeoutMs, advice }),
      },
      ended,
    };
  } finally {
    if (!isStreaming) scope.close();
  }
}

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

/**
 * A streamed body; one that breaks off is a failure of the request. Each piece has the whole time to come; how
 * long the reader takes between two does not count.
 */
async function* watched(
  stream: AsyncIterable<Uint8Array>,
  request: Prepared,
  ended: Attempted,
  scope: Scope,
  { timeoutMs, advice }: Pick<Connection, 'timeoutMs' | 'advice'>,
): AsyncGenerator<Uint8Array> {
  try {
    scope.restartDeadline();
    for await (const piece of stream) {
      scope.liftDeadline();
      yield piece;
      scope.restartDeadline();
    }
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    if (scope.cutShort === 'interrupted') {
      throw failureOf(
        request,
        { ...ended, response: undefined, failure: error, cutShort: scope.cutShort },
        { timeoutMs, reason: scope.reason, advice },
      );
    }
    const why = scope.cutShort ? `nothing more came within ${(timeoutMs ?? 0) / 1000}s` : error.message;
    throw new UnavailableError(`the response to ${requestLine(request)} broke off: ${why}`, {
      attempts: ended.attempts,
      retryable: true,
      cause: error,
    });
  } finally {
    scope.close();
  }
}
