import type { FetchLike } from '../../http/transport/fetch.ts';
import type { CallName, ListName, StreamName } from './operations.ts';
import type { Operations, StreamedOperations } from './wire.ts';

export interface ClientOptions {
  /** Of the service, `https://host/path`. Plain http goes to this machine alone, unless `allowPlainHttp`. */
  readonly baseUrl: string;
  /** Sent as a bearer credential. Without it only operations that need no key can be called. */
  readonly apiKey?: string | undefined;
  /** Carries the requests in place of the network: the global `fetch`, or a function like it. */
  readonly transport?: FetchLike | undefined;
  /** For each call with all its attempts, ms: 30,000 unless given. A streamed response has it for each pause. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first one: 3, or 4 for an order; 0 for none. */
  readonly retries?: number | undefined;
  /** Ends every call of the client when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Sends the key over plain http to other machines too. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Base URL of the operations called `legacy…`. */
  readonly legacyBaseUrl?: string | undefined;
  /** The client token of the legacy service. */
  readonly legacyToken?: string | undefined;
}

export interface CallOptions {
  /** Ends this one call. */
  readonly signal?: AbortSignal | undefined;
  /** The `authorization` header that pays, for an operation that is paid by challenge (402). */
  readonly payment?: string | undefined;
}

/** Path and query parameters by their wire names, and the body. */
export type CallInput<N extends CallName | StreamName> = N extends CallName
  ? Operations[N]['input']
  : N extends StreamName
    ? StreamedOperations[N]['input']
    : never;

/** The input may be left out where nothing in it is required. */
export type CallArguments<N extends CallName | StreamName> =
  Record<never, never> extends CallInput<N>
    ? [input?: CallInput<N>, options?: CallOptions]
    : [input: CallInput<N>, options?: CallOptions];

export type ListArguments<N extends ListName> =
  Record<never, never> extends CallInput<N> ? [input?: CallInput<N>] : [input: CallInput<N>];

interface ResponseHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The service's own id of the request, where it sends one. */
  readonly requestId: string | undefined;
  /** How many times it was sent. */
  readonly attempts: number;
}

export interface ServiceResponse<N extends CallName> extends ResponseHead {
  /** Amounts are in cents. Its ids are checked; the rest is what the service sent, as the contract describes it. */
  readonly body: Operations[N]['response'];
}

export interface StreamedResponse extends ResponseHead {
  /** Reading throws an ErrandError where the response breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A record of a list. */
export type RowOf<N extends ListName> = Operations[N] extends { row: infer R } ? R : never;

export interface ListPage<R> {
  readonly rows: readonly R[];
  /** How many records there are in all, where the service says so. */
  readonly total: number | undefined;
}

/**
 * The service, typed by its contract. Every method throws an ErrandError for all but a success: UsageError before anything
 * is sent, ServiceError and its kinds for what the service refuses, UnavailableError and DeadlineError where there is no
 * response, InDoubtError where what moves money may have been carried out.
 */
export interface Client extends AsyncDisposable {
  /** Calls one operation: `call('order.get', { path: { order_id } })`. The service checks the body. */
  call<N extends CallName>(name: N, ...input: CallArguments<N>): Promise<ServiceResponse<N>>;
  /** Calls an operation that returns CSV of any length; it is not kept in memory. */
  stream<N extends StreamName>(name: N, ...input: CallArguments<N>): Promise<StreamedResponse>;
  /**
   * Every page of a list to its end, the next one loading while this one is worked at. Leaving the loop ends that.
   * Rows that a page repeats because records came in between are left out.
   */
  pages<N extends ListName>(name: N, ...input: ListArguments<N>): AsyncGenerator<ListPage<RowOf<N>>>;
  /** Ends its calls at once (InterruptedError, or InDoubtError where what moves money was sent) and closes its connections. */
  close(): Promise<void>;
}
