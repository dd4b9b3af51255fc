import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';

/** A request in wire form. `body` is complete, because retries must send the same bytes. */
export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** The address comes from the service, not the user, so it may lead no further inward than the service itself. */
  readonly isForeign?: boolean;
  /** Aborts the request and the reading of its response. */
  readonly signal: AbortSignal;
}

export type WireHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response whose body is decoded but not yet read. Callers must read the body to the end or discard it. */
export interface WireResponse {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: WireHeaders;
  /** Reading throws TransportFailure where the response breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

/** Sends one request to the service. `send` throws only TransportFailure. */
export interface Transport {
  send(request: WireRequest): Promise<WireResponse>;
  close(): Promise<void>;
}

/** Timeouts in ms: to connect, until the response headers, and between body chunks. */
export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly bodyMs: number;
}

export const defaultTimeouts: Timeouts = { connectMs: 10_000, headersMs: 60_000, bodyMs: 60_000 };

/** `not_sent`: no byte of the request can have reached the service. `unknown`: the service may have acted on it. */
export type Sent = 'not_sent' | 'unknown';

/** The response is missing or incomplete. The message says what happened without naming the request. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly sent: Sent;
  /** A retry cannot help, as with an invalid certificate. */
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

/** Value of a header; the first if repeated. */
export function headerText(headers: WireHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

export const givenUp = (sent: 'not_sent' | 'unknown', signal: AbortSignal): TransportFailure =>
  new TransportFailure(sent, 'the request was given up', { cause: signal.reason });

/**
 * Waits for a response whose source may ignore the signal. The request has been handed over, so giving up leaves its
 * outcome unknown.
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
