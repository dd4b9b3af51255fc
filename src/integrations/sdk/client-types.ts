import type { FetchLike } from '../../http/transport/fetch.ts';
import type { CallName, ListName, StreamName } from './operations.ts';
import type { Operations, StreamedOperations } from './wire.ts';

export interface ClientOptions {
  /**
   * Base URL of the service, `https://host/path`. Plain http is accepted only for this machine, unless `allowPlainHttp`
   * is set.
   */
  readonly baseUrl: string;
  /** The API key, sent as a bearer token. Without it, only operations that need no key can be called. */
  readonly apiKey?: string | undefined;
  /**
   * Function that sends the requests in place of errand's own network code: the global `fetch`, or a function like it.
   */
  readonly transport?: FetchLike | undefined;
  /** Timeout of a call including its retries, ms; 30,000 by default. Applies to each pause of a streamed response. */
  readonly timeoutMs?: number | undefined;
  /** Retries after the first attempt: 3 by default, or 4 for an order; 0 for none. */
  readonly retries?: number | undefined;
  /** Aborts every call of the client. */
  readonly signal?: AbortSignal | undefined;
  /** Also sends the key over plain http to other machines. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Base URL of the `legacy…` operations. */
  readonly legacyBaseUrl?: string | undefined;
  /** Client token of the legacy service. */
  readonly legacyToken?: string | undefined;
  /** Your program, for the `user-agent` of its requests. */
  readonly appInfo?: AppInfo | undefined;
  /**
   * Called before each attempt. Secrets are masked in what hooks receive. An error that a hook throws only causes a
   * warning.
   */
  readonly onRequest?: ((request: RequestSent) => void) | undefined;
  /** Called for each response, whatever its status. */
  readonly onResponse?: ((response: ResponseReceived) => void) | undefined;
  /** Called before the pause that comes before another attempt. */
  readonly onRetry?: ((retry: RetryPlanned) => void) | undefined;
}

export interface AppInfo {
  /** Letters, digits and `-._~`. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly url?: string | undefined;
}

/** One attempt of a call, as hooks see it. */
export interface RequestAttempt {
  /** The name in `operations`; undefined for a download. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly url: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

type ShownHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface RequestSent extends RequestAttempt {
  readonly headers: ShownHeaders;
}

export interface ResponseReceived extends RequestAttempt {
  readonly status: number;
  readonly headers: ShownHeaders;
  /** The service's id of the request, if it sends one. */
  readonly requestId: string | undefined;
  /** Time since the attempt began, ms. */
  readonly ms: number;
}

export interface RetryPlanned extends RequestAttempt {
  /** Time until the attempt, ms. */
  readonly waitMs: number;
  /** Status of the last response; undefined if none came. */
  readonly status?: number;
  /** Description of the network error, if there was no response. */
  readonly message?: string;
}

/** Options of one call. They override those of the client. */
export interface CallOptions {
  /** Aborts this call. The error has the signal's reason as its `cause`. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of this call including its retries, ms. */
  readonly timeoutMs?: number | undefined;
  /** Retries of this call after the first attempt; 0 for none. */
  readonly retries?: number | undefined;
  /** Additional headers. Headers that the client sets itself, or that control a gateway, are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * What pays for an operation paid by challenge (402): the value of the `authorization` header, or `x402 ` and that of
   * `PAYMENT-SIGNATURE`.
   */
  readonly payment?: string | undefined;
}

/**
 * Filters orders by their reference. Cannot be combined with `metadata_key`, because the service takes one pair of
 * metadata.
 */
export interface ReferenceQuery {
  /** The buyer's own name for an order, exact. */
  readonly reference?: string | undefined;
  /** Who numbers the references. */
  readonly namespace?: string | undefined;
}

/** Path and query parameters by wire name, and the body. */
export type CallInput<N extends CallName | StreamName> = N extends CallName
  ? Operations[N]['input'] & (N extends 'order.list' ? { readonly query?: ReferenceQuery } : unknown)
  : N extends StreamName
    ? StreamedOperations[N]['input']
    : never;

/** Arguments of a call. The input may be omitted if none of its parts is required. */
export type CallArguments<N extends CallName | StreamName> =
  Record<never, never> extends CallInput<N>
    ? [input?: CallInput<N>, options?: CallOptions]
    : [input: CallInput<N>, options?: CallOptions];

export type ListArguments<N extends ListName> =
  Record<never, never> extends CallInput<N>
    ? [input?: CallInput<N>, options?: ListOptions]
    : [input: CallInput<N>, options?: ListOptions];

/** Options of each request of a list. */
export type ListOptions = Omit<CallOptions, 'payment'>;

/** The records of a list. Each loop over it reads the list again. */
export interface RecordList<R> extends AsyncIterable<R> {
  /** The same list, page by page. */
  pages(): AsyncGenerator<ListPage<R>>;
}

interface ResponseHead {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The service's id of the request, if it sends one. */
  readonly requestId: string | undefined;
  /** Number of attempts made. */
  readonly attempts: number;
}

export interface ServiceResponse<N extends CallName> extends ResponseHead {
  /** Amounts are in cents. Ids are validated; everything else is as the service sent it, described by the contract. */
  readonly body: Operations[N]['response'];
}

export interface StreamedResponse extends ResponseHead {
  /** Reading throws an ErrandError if the response breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A record of a list. */
export type RowOf<N extends ListName> = Operations[N] extends { row: infer R } ? R : never;

export interface ListPage<R> {
  readonly rows: readonly R[];
  /** Total number of records, if the service reports it. */
  readonly total: number | undefined;
}

/**
 * Client of the service, typed by its contract. Every method throws an ErrandError unless it succeeds. It throws
 * UsageError before anything is sent, ServiceError or a subclass if the service refuses, UnavailableError or
 * DeadlineError if no response arrives, and InDoubtError if a request that moves money may have been executed.
 */
export interface Client extends AsyncDisposable {
  /** Calls one operation: `call('order.get', { path: { order_id } })`. The service checks the body. */
  call<N extends CallName>(name: N, ...input: CallArguments<N>): Promise<ServiceResponse<N>>;
  /** Calls an operation that returns CSV of any length, without buffering it. */
  stream<N extends StreamName>(name: N, ...input: CallArguments<N>): Promise<StreamedResponse>;
  /**
   * Iterates over all records of a list, and reads each page when the loop reaches it: `for await (const order of
   * client.list('order.list'))`. Nothing is sent before the loop begins.
   */
  list<N extends ListName>(name: N, ...input: ListArguments<N>): RecordList<RowOf<N>>;
  /**
   * Iterates over all pages of a list and prefetches the next page. Leaving the loop stops the prefetching. Drops rows
   * that a page repeats because new records shifted the list.
   */
  pages<N extends ListName>(name: N, ...input: ListArguments<N>): AsyncGenerator<ListPage<RowOf<N>>>;
  /**
   * Aborts its calls (with InterruptedError, or InDoubtError if a request that moves money was sent) and closes its
   * connections.
   */
  close(): Promise<void>;
}
