import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';

/** A request in wire form. `body` is complete, because retries must send the same bytes. */
export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /**
   * Whether the address comes from the service instead of the user. If so, it may lead no further inward than the
   * service itself.
   */
  readonly isForeign?: boolean;
  /** Aborts the request and the reading of the response. */
  readonly signal: AbortSignal;
}

export type WireHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response whose body is decoded but not read yet. Callers must read the body to the end or discard it. */
export interface WireResponse {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: WireHeaders;
  /** The chunks of the body. Reading them throws TransportFailure if the response breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

/** Sends requests to the service, one per call. `send` throws nothing but TransportFailure. */
export interface Transport {
  send(request: WireRequest): Promise<WireResponse>;
  close(): Promise<void>;
}

/** Timeouts in ms: for connecting, until the response headers arrive, and between two chunks of the body. */
export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly bodyMs: number;
}

export const defaultTimeouts: Timeouts = { connectMs: 10_000, headersMs: 60_000, bodyMs: 60_000 };

/**
 * Whether a request was sent. `not_sent`: no byte of it can have reached the service. `unknown`: the service may have
 * acted on it.
 */
export type Sent = 'not_sent' | 'unknown';

/** The response is missing or incomplete. The message says what happened but does not name the request. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly sent: Sent;
  /** Whether a retry cannot help, as with an invalid certificate. */
  readonly isPermanent: boolean;
  /** Remedy, if the network is not the cause. */
  readonly hint: string | undefined;

  constructor(
    sent: Sent,
    message: string,
    { isPermanent = false, hint, cause }: { isPermanent?: boolean; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.sent = sent;
    this.isPermanent = isPermanent;
    this.hint = hint;
  }
}

/** Value of a header. If the header is repeated, its first value. */
export function headerText(headers: WireHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

export const givenUp = (sent: 'not_sent' | 'unknown', signal: AbortSignal): TransportFailure =>
  new TransportFailure(sent, 'the request was given up', { cause: signal.reason });

/**
 * Waits for a response from a source that may ignore the signal. The request has been handed over, so if the wait is
 * given up, the outcome is unknown.
 */
export function inTime<T>(response: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const stop = (): void => end(() => reject(givenUp('unknown', signal)));
    const timer = setTimeout(
      () => end(() => reject(new TransportFailure('unknown', 'no response came in time'))),
      ms,
    );
    signal.addEventListener('abort', stop, { once: true });
    // The call itself may have aborted the signal.
    if (signal.aborted) stop();
    response.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}
