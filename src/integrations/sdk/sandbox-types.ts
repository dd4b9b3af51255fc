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
 * A fault as `errand sandbox serve --fault` takes it, such as `'reset-after:20%@POST /orders'` or `'429=5s:10%'`; `errand
 * sandbox serve --help` lists them.
 */
export type SandboxFault =
  | `${FaultKind}${FaultTime}${FaultShare}${'' | `@${string}`}`
  | `${number}${'' | '-after'}={${string}`;

/** How a sandbox is started; each can be left out. */
export interface SandboxOptions {
  /**
   * The port on 127.0.0.1. 0, as without it, picks a free one; `false` opens none, and `fetch` alone answers.
   */
  readonly port?: number | false | undefined;
  /** A whole number from 0 to 2,147,483,647: the same seed gives the same ids, prices, outcomes and faults. Without it they are drawn. */
  readonly seed?: number | undefined;
  /** Divides every delay of an order's life, 1 (as without it) to 1000. */
  readonly speed?: number | undefined;
  /**
   * `'real'`, as without it: the machine's time. `'frozen'`: it stands still at the time of the start, a `Date` at that
   * date, and `advance` alone moves it. `{ now }`, such as `Date` itself: ms since the epoch, asked each time.
   */
  readonly clock?: 'real' | 'frozen' | Date | { now(): number } | undefined;
  /** What fails, and how often; drawn by the seed. */
  readonly faults?: readonly SandboxFault[] | undefined;
}

/** A sandbox of its own: orders, keys, wallets and time are shared with no other. */
export interface Sandbox {
  /** Its address, without a slash at the end; with `port: false` only `fetch` answers there. */
  readonly baseUrl: string;
  /** Where its test products are: `${shopUrl}/test-out-of-stock`. */
  readonly shopUrl: string;
  /** A test key with a full wallet. Unlike others it never expires, however far the clock is moved. */
  readonly apiKey: string;
  /**
   * The body of an order that succeeds, at most 5,000 cents. Each time that it is read it has a fresh `idempotency_key`,
   * so that each makes an order of its own: keep one to send the same order twice.
   */
  readonly exampleOrder: OrderCreate & { readonly idempotency_key: string };
  /**
   * As the global `fetch`, for this sandbox alone and through no socket. A path will do for the URL. Needs no
   * `this`, so it can be handed to a client. Rejects with a TypeError for another host, and where a fault breaks off the
   * connection; with the signal's reason where that is aborted.
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Moves the clock forward, and resolves once all that was due by then has happened, in its order: batches are placed,
   * orders and returns go on, webhooks are attempted (10 s at most for each attempt). `'0s'` only waits for what is due.
   * A webhook's receiver must respond before it waits for an `advance` or a `trigger` itself.
   * @param time `'30s'`, `'3d'`, `'1h30m'`, at most 3650 days; or ms.
   * @returns the sandbox's new time, ms since the epoch. @throws UsageError for what is no length of time.
   */
  advance(time: string | number): Promise<number>;
  /** Keeps the state and the time as they are now, in memory until the sandbox is closed. */
  snapshot(): Promise<SandboxSnapshot>;
  /**
   * Goes back to a kept state and its time, as often as wanted. Webhooks that were queued then are sent again. What
   * `requests` tells stays. @throws UsageError for a snapshot of another sandbox.
   */
  restore(snapshot: SandboxSnapshot): Promise<void>;
  /**
   * Makes something happen now, such as `trigger('delivered', order.id)`, `trigger('failed', order.id, { errorType:
   * 'account_locked' })` or `trigger('wallet-funded', { amount: 20_000 })`, the amount in cents. Resolves once the
   * webhooks of it are attempted. No fault falls on it. @throws UsageError for what is no trigger; ErrandError
   * `not_found` for an id that is not there, `conflict` where the state of its target forbids it.
   */
  trigger<Event extends SandboxTrigger>(
    event: Event,
    ...what: TriggerArguments<Event>
  ): Promise<SandboxTriggered>;
  /** The requests that are over, the newest 1,000, newest last; pages for people are left out. */
  requests(): SandboxRequest[];
  /** What was sent to webhooks or is to be, the newest 1,000, newest last. */
  deliveries(): SandboxDelivery[];
  /** Ends it: what it holds is gone, and no handle is left. Once more does nothing. */
  close(): Promise<void>;
  /** Closes it at the end of `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A kept state, for `restore` of the sandbox that kept it. */
export interface SandboxSnapshot {
  /** The sandbox's time, ms since the epoch. */
  readonly takenAt: number;
}

/** What each trigger needs besides its name. */
export type TriggerArguments<Event extends SandboxTrigger> = Event extends 'wallet-funded'
  ? [options: { readonly amount: number }]
  : Event extends 'failed'
    ? [orderId: string, options?: { readonly errorType?: ErrorType | undefined }]
    : (typeof sandboxTriggers)[Event]['target'] extends 'none'
      ? []
      : [id: string];

/** What a trigger did: of an order or a return its new status, of the wallet its new balance in cents. */
export interface SandboxTriggered {
  readonly event: SandboxTrigger;
  readonly id?: string;
  readonly status?: string;
  readonly amount?: number;
  readonly balance?: number;
  readonly email?: string;
}

/** A request that is over. No secret is in it: keys in its path and values of unknown queries are shown as `…`. */
export interface SandboxRequest {
  /** The sandbox's time, ms since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Without its question mark; empty where there is none. */
  readonly query: string;
  /** null where the connection was broken off without a response. */
  readonly status: number | null;
  /** Until the response began, ms of the machine's time. */
  readonly tookMs: number;
  /** The kind of the fault that fell on it. */
  readonly fault: string | null;
}

/** A webhook's delivery to one address. Times are the sandbox's, ms since the epoch. */
export interface SandboxDelivery {
  readonly id: string;
  readonly orderId: string;
  readonly event: WebhookEvent;
  /** Without user, password and query. */
  readonly url: string;
  /** What is sent. */
  readonly body: OrderResponse;
  /** `behind`: it waits for an earlier one of the same order. */
  readonly state: 'open' | 'behind' | 'delivered' | 'given up';
  readonly createdAt: number;
  /** When it was delivered or given up, or is due next. */
  readonly at: number;
  readonly attempts: number;
  /** The outcome of the last attempt. `error` is null where it was delivered; `status` where no response came. */
  readonly last: {
    readonly status: number | null;
    readonly error: string | null;
    readonly tookMs: number;
  } | null;
}
