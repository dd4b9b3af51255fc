/** A request as it goes on the wire. `body` is whole: what is sent again must be the same bytes. */
export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** The service named the address, not the user: it may lead no further inward than the service itself. */
  readonly isForeign?: boolean;
  /** Ends the request and the reading of its response. */
  readonly signal: AbortSignal;
}

export type WireHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response whose body is still to be read, content coding undone. It must be read to the end or discarded. */
export interface WireResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: WireHeaders;
  /** Reading throws TransportFailure where the response breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

/** Carries one request to the service. `send` throws TransportFailure and nothing else. */
export interface Transport {
  send(request: WireRequest): Promise<WireResponse>;
  close(): Promise<void>;
}

/** Times in ms: to connect, until the headers of the response, and between two pieces of its body. */
export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly bodyMs: number;
}

export const defaultTimeouts: Timeouts = { connectMs: 10_000, headersMs: 60_000, bodyMs: 60_000 };

/** `not_sent`: no byte of the request can have reached the service. `unknown`: it may have acted on it. */
export type Sent = 'not_sent' | 'unknown';

/** No response, or half of one. The message says what happened without naming the request. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly sent: Sent;
  /** Trying again cannot help: a certificate that is wrong stays wrong. */
  readonly isPermanent: boolean;
  /** What to do about it, where it is not the network that failed. */
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

/** One header's text; where it came several times, the first. */
export function headerText(headers: WireHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

export const givenUp = (sent: 'not_sent' | 'unknown', signal: AbortSignal): TransportFailure =>
  new TransportFailure(sent, 'the request was given up', { cause: signal.reason });

/**
 * Waits for a response of whoever may not heed the signal. The request has been handed over, so whoever stops waiting does
 * not know what became of it.
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
    // Whoever was asked may have aborted it at once.
    if (signal.aborted) stop();
    response.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}
