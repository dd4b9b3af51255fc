import type { SandboxTrigger, sandboxTriggers } from '../../api/control.ts';
import type { ErrorType } from '../../api/error-types.ts';
import type { WebhookEvent } from '../../api/events.ts';
import type { OrderCreate, OrderResponse } from './wire.ts';

type FaultKind =
  | 'refuse'
  | 'reset-before'
  | 'reset-after'
  | 'delay'
  | 'truncate'
  | 'normalise'
  | 'another-order'
  | `${number}${'' | '-after'}${'' | `:${string}`}`
  | `${'html' | 'bare' | 'redirect'}:${number}${'' | '-after'}`
  | `${'normalise' | 'id'}:${string}`;
type FaultTime = '' | `=${number}${'ms' | 's' | 'm'}`;
type FaultShare = '' | `:${number}%`;

/**
 * A fault in the syntax of `errand sandbox serve --fault`, such as `'reset-after:20%@POST /orders'` or `'429=5s:10%'`;
 * `errand sandbox serve --help` lists them.
 */
export type SandboxFault =
  | `${FaultKind}${FaultTime}${FaultShare}${'' | `@${string}`}`
  | `${number}${'' | '-after'}={${string}`;

/** Options for starting a sandbox; all are optional. */
export interface SandboxOptions {
  /**
   * Port on 127.0.0.1. The default, 0, picks a free port. With `false`, no port is opened, so only `fetch` reaches the
   * sandbox.
   */
  readonly port?: number | false | undefined;
  /**
   * An integer from 0 to 2,147,483,647. The same seed gives the same ids, prices, outcomes and faults. Random by
   * default.
   */
  readonly seed?: number | undefined;
  /** Number by which every delay in an order's life is divided, from 1 (the default) to 1000. */
  readonly speed?: number | undefined;
  /**
   * `'real'` (the default) follows the machine's time. `'frozen'` stops the clock at the start time. A `Date` stops it
   * at that date. In both cases, only `advance` moves the clock. `{ now }`, such as `Date` itself, is called whenever
   * the time is needed, and returns ms since the epoch.
   */
  readonly clock?: 'real' | 'frozen' | Date | { now(): number } | undefined;
  /** Which faults occur, and how often. The seed determines when they occur. */
  readonly faults?: readonly SandboxFault[] | undefined;
}

/** An isolated sandbox. It shares no orders, keys, wallets or time with any other sandbox. */
export interface Sandbox {
  /** Base URL without a trailing slash; with `port: false`, only `fetch` can reach it. */
  readonly baseUrl: string;
  /** Base URL of the test products in the sandbox, such as `${shopUrl}/test-out-of-stock`. */
  readonly shopUrl: string;
  /** A test key with a full wallet. Unlike other keys, it never expires, however far the clock moves. */
  readonly apiKey: string;
  /**
   * Body of an order that succeeds and costs at most 5,000 cents. Each access returns a new `idempotency_key`, and
   * therefore a separate order. To send the same order twice, use the same body twice.
   */
  readonly exampleOrder: OrderCreate & { readonly idempotency_key: string };
  /**
   * Like the global `fetch`, but reaches only this sandbox, without a socket. Accepts a path as URL. It does not use
   * `this`, so it can be passed to a client. Rejects with a TypeError if the URL has another host, or if a fault breaks
   * the connection. If aborted, rejects with the signal's reason.
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Moves the clock forward, and resolves once everything due by then has happened, in order: batches are placed,
   * orders and returns progress, webhooks are attempted (up to 10 s per attempt). `'0s'` only waits for what is due. A
   * webhook receiver must respond before it awaits an `advance` or `trigger` itself.
   * @param time `'30s'`, `'3d'`, `'1h30m'`, at most 3650 days; or ms.
   * @returns the sandbox's new time, in ms since the epoch. @throws UsageError for an invalid duration.
   */
  advance(time: string | number): Promise<number>;
  /** Saves the current state and time in memory until the sandbox closes. */
  snapshot(): Promise<SandboxSnapshot>;
  /**
   * Restores a saved state and its time. This can be done any number of times. Webhooks that were queued when the state
   * was saved are sent again. The log of `requests` stays as it is.
   * @throws UsageError for a snapshot of another sandbox.
   */
  restore(snapshot: SandboxSnapshot): Promise<void>;
  /**
   * Triggers an event now, such as `trigger('delivered', order.id)`,
   * `trigger('failed', order.id, { errorType: 'account_locked' })` or `trigger('wallet-funded', { amount: 20_000 })`,
   * where the amount is in cents. Resolves once the webhooks of the event are attempted. Faults do not apply.
   * @throws UsageError for an unknown trigger; ErrandError `not_found` for an unknown id, `conflict` if the target's
   * state does not permit the event.
   */
  trigger<Event extends SandboxTrigger>(
    event: Event,
    ...what: TriggerArguments<Event>
  ): Promise<SandboxTriggered>;
  /** The latest 1,000 completed requests, newest last. Requests for pages that people read are left out. */
  requests(): SandboxRequest[];
  /** The latest 1,000 webhook deliveries, newest last. They were sent, or are still pending. */
  deliveries(): SandboxDelivery[];
  /** Closes the sandbox: discards its data and releases all handles. Idempotent. */
  close(): Promise<void>;
  /** Closes the sandbox at the end of `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A saved state. Only the sandbox that saved it can `restore` it. */
export interface SandboxSnapshot {
  /** Sandbox time when the state was saved, ms since the epoch. */
  readonly takenAt: number;
}

/** Arguments of each trigger, apart from its name. */
export type TriggerArguments<Event extends SandboxTrigger> = Event extends 'wallet-funded'
  ? [options: { readonly amount: number }]
  : Event extends 'failed'
    ? [orderId: string, options?: { readonly errorType?: ErrorType | undefined }]
    : (typeof sandboxTriggers)[Event]['target'] extends 'none'
      ? []
      : [id: string];

/** Result of a trigger: the new status of an order or return, or the wallet's new balance in cents. */
export interface SandboxTriggered {
  readonly event: SandboxTrigger;
  readonly id?: string;
  readonly status?: string;
  readonly amount?: number;
  readonly balance?: number;
  readonly email?: string;
}

/**
 * A completed request, without secrets. Keys in the path, and the values of unknown query parameters, appear as `…`.
 */
export interface SandboxRequest {
  /** Sandbox time of the request, in ms since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** The query without the question mark. Empty if there is no query. */
  readonly query: string;
  /** Status of the response. Null if the connection broke without a response. */
  readonly status: number | null;
  /** Time until the response began, in ms of real time. */
  readonly tookMs: number;
  /** Kind of fault that was applied to the request. Null if there was none. */
  readonly fault: string | null;
}

/** Delivery of a webhook to one address. Times are in ms since the epoch, by the sandbox's clock. */
export interface SandboxDelivery {
  readonly id: string;
  readonly orderId: string;
  readonly event: WebhookEvent;
  /** Without user, password and query. */
  readonly url: string;
  /** The request body. */
  readonly body: OrderResponse;
  /** `behind` means that the delivery waits for an earlier delivery of the same order. */
  readonly state: 'open' | 'behind' | 'delivered' | 'given up';
  readonly createdAt: number;
  /** When the delivery succeeded, was given up, or is to be tried next. */
  readonly at: number;
  readonly attempts: number;
  /**
   * Result of the last attempt. If the attempt succeeded, `error` is null. If there was no response, `status` is null.
   */
  readonly last: {
    readonly status: number | null;
    readonly error: string | null;
    readonly tookMs: number;
  } | null;
}
