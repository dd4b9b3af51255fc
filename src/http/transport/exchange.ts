import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { networkFailure } from '../response.ts';
import { TransportFailure, type WireHeaders } from './transport.ts';

/** A request as passed to a wire transport. Times are in ms. */
export interface Sending {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | null;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
}

/** Carries requests over connections of its own. undici's dispatchers and Node's own HTTP implement it. */
export interface WireTransport {
  dispatch(sending: Sending, exchange: Exchange): unknown;
  destroy(): Promise<unknown>;
}

type Controller = Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>;

export interface RawResponse {
  readonly status: number;
  readonly headers: WireHeaders;
  readonly body: Readable;
}

/**
 * One request on one connection, as its transport reports it. The transport calls `onRequestStart` right before it
 * writes to an established connection. Before that call, nothing was sent, so there is no need to guess from error
 * codes.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<RawResponse>;
  readonly #signal: AbortSignal;
  readonly #stop = (): void => this.#abort(this.#signal.reason);
  #resolve: (response: RawResponse) => void = () => {};
  #reject: (failure: TransportFailure) => void = () => {};
  #controller: Controller | undefined;
  #body: Readable | undefined;
  #isOver = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  onRequestStart(controller: Controller): void {
    if (this.#isOver) controller.abort(new Error('no longer wanted'));
    else this.#controller = controller;
  }

  onResponseStart(controller: Controller, status: number, headers: WireHeaders): void {
    // A 1xx response only precedes the final response.
    if (status < 200) return;
    const body = new Readable({
      highWaterMark: 64 * 1024,
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#end();
        controller.abort(error ?? new Error('no longer wanted'));
        done(error);
      },
    });
    // Readers still see the failure. Without a reader, the failure must not crash the process.
    body.on('error', () => {});
    this.#body = body;
    this.#resolve({ status, headers, body });
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#body?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#body) {
      this.#end();
      this.#body.push(null);
    } else {
      // A response with an invalid status, such as 099, is not HTTP.
      this.fail(new TransportFailure('unknown', 'the response is not HTTP'));
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(networkFailure(error, this.#controller ? 'unknown' : 'not_sent'));
  }

  fail(failure: TransportFailure): void {
    this.#end();
    this.#reject(failure);
    this.#body?.destroy(failure);
  }

  #abort(reason: unknown): void {
    const failure = new TransportFailure(
      this.#controller ? 'unknown' : 'not_sent',
      'the request was given up',
      {
        cause: reason,
      },
    );
    this.fail(failure);
    this.#controller?.abort(failure);
  }

  #end(): void {
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#stop);
  }
}
