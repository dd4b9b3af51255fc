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
   * Function that sends the requests instead of errand's own network code. Either the global `fetch` or a function like
   * it.
   */
  readonly transport?: FetchLike | undefined;
  /**
   * Timeout of a call, including its retries, in ms; 30,000 by default. In a streamed response, it limits each pause.
   */
  readonly timeoutMs?: number | undefined;
  /** Number of retries after the first attempt. The default is 3, or 4 for an order. 0 turns retries off. */
  readonly retries?: number | undefined;
  /** Aborts every call of the client. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the key may also be sent to other machines over plain http. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Base URL of the `legacy…` operations. */
  readonly legacyBaseUrl?: string | undefined;
  /** Client token of the legacy service. */
  readonly legacyToken?: string | undefined;
  /** Name of your program, for the `user-agent` header of its requests. */
  readonly appInfo?: AppInfo | undefined;
  /**
   * Called before each attempt. Secrets are masked in the arguments of every hook. If a hook throws an error, this only
   * causes a warning.
   */
  readonly onRequest?: ((request: RequestSent) => void) | undefined;
  /** Called for each response, whatever its status. */
  readonly onResponse?: ((response: ResponseReceived) => void) | undefined;
  /** Called before the pause that precedes another attempt. */
  readonly onRetry?: ((retry: RetryPlanned) => void) | undefined;
}

export interface AppInfo {
  /** Letters, digits and `-._~`. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly url?: string | undefined;
}

/** One attempt of a call, in the form in which hooks receive it. */
export interface RequestAttempt {
  /** The name of the operation in `operations`; undefined for a download. */
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
  /** The id that the service has given to the request, if it sends one. */
  readonly requestId: string | undefined;
  /** Time since the attempt began, in ms. */
  readonly ms: number;
}

export interface RetryPlanned extends RequestAttempt {
  /** Time until the attempt, in ms. */
  readonly waitMs: number;
  /** Status of the last response. Undefined if there was no response. */
  readonly status?: number;
  /** Description of the network error, if there was no response. */
  readonly message?: string;
}

/** Options of one call. They take precedence over the options of the client. */
export interface CallOptions {
  /** Aborts this call. The resulting error has the signal's reason as its `cause`. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of this call, including its retries, in ms. */
  readonly timeoutMs?: number | undefined;
  /** Retries of this call after the first attempt; 0 for none. */
  readonly retries?: number | undefined;
  /** Additional headers. A header is refused if the client sets it itself, or if it controls a gateway. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * What pays for an operation paid by challenge (402): the value of the `authorization` header, or `x402 ` and that of
   * `PAYMENT-SIGNATURE`.
   */
  readonly payment?: string | undefined;
}

/**
 * Finds orders by their reference. It cannot be combined with `metadata_key`, because the service accepts only one pair
 * of metadata.
 */
export interface ReferenceQuery {
  /** The name that the buyer gave to an order. It must match exactly. */
  readonly reference?: string | undefined;
  /** Who numbers the references. */
  readonly namespace?: string | undefined;
}

/** Path and query parameters, keyed by wire name, and the body. */
export type CallInput<N extends CallName | StreamName> = N extends CallName
  ? Operations[N]['input'] & (N extends 'order.list' ? { readonly query?: ReferenceQuery } : unknown)
  : N extends StreamName
    ? StreamedOperations[N]['input']
    : never;

/** Arguments of a call. If no part of the input is required, the input may be omitted. */
export type CallArguments<N extends CallName | StreamName> =
  Record<never, never> extends CallInput<N>
    ? [input?: CallInput<N>, options?: CallOptions]
    : [input: CallInput<N>, options?: CallOptions];

export type ListArguments<N extends ListName> =
  Record<never, never> extends CallInput<N>
    ? [input?: CallInput<N>, options?: ListOptions]
    : [input: CallInput<N>, options?: ListOptions];

/** Options that apply to each request of a list. */
export type ListOptions = Omit<CallOptions, 'payment'>;

/** The records of a list. Each loop over them reads the list again from the start. */
export interface RecordList<R> extends AsyncIterable<R> {
  /** The same list, page by page. */
  pages(): AsyncGenerator<ListPage<R>>;
}

interface ResponseHead {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The id that the service has given to the request, if it sends one. */
  readonly requestId: string | undefined;
  /** Number of attempts made. */
  readonly attempts: number;
}

export interface ServiceResponse<N extends CallName> extends ResponseHead {
  /**
   * The body of the response, with amounts in cents. Ids are validated. Everything else is as the service sent it, and
   * has the types of the contract.
   */
  readonly body: Operations[N]['response'];
}

export interface StreamedResponse extends ResponseHead {
  /** The content of the response. If the response breaks off, reading it throws an ErrandError. */
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
 * Client of the service, with the types of the service's contract. Every method throws an ErrandError unless it
 * succeeds: UsageError before anything is sent, ServiceError or a subclass if the service refuses, UnavailableError or
 * DeadlineError if no response arrives, and InDoubtError if a request that moves money may have been executed.
 */
export interface Client extends AsyncDisposable {
  /** Calls one operation: `call('order.get', { path: { order_id } })`. The body is checked only by the service. */
  call<N extends CallName>(name: N, ...input: CallArguments<N>): Promise<ServiceResponse<N>>;
  /** Calls an operation that returns CSV. The CSV may have any length, because it is not buffered. */
  stream<N extends StreamName>(name: N, ...input: CallArguments<N>): Promise<StreamedResponse>;
  /**
   * Iterates over all records of a list. Each page is read when the loop reaches it:
   * `for await (const order of client.list('order.list'))`. Nothing is sent before the loop begins.
   */
  list<N extends ListName>(name: N, ...input: ListArguments<N>): RecordList<RowOf<N>>;
  /**
   * Iterates over all pages of a list, and prefetches the next page. Leaving the loop stops the prefetching. If new
   * records have shifted the list, rows that a page repeats are dropped.
   */
  pages<N extends ListName>(name: N, ...input: ListArguments<N>): AsyncGenerator<ListPage<RowOf<N>>>;
  /**
   * Aborts the client's calls and closes its connections. An aborted call throws InterruptedError, or InDoubtError if
   * it had sent a request that moves money.
   */
  close(): Promise<void>;
}
