import { isObject, own } from '../api/json.ts';
import { idPattern, uuidPattern } from '../api/limits.ts';
import type { EssentialKind, Operation, Parameter, Surface } from '../api/operation.ts';
import { type OperationName, operations } from '../api/operations/index.ts';
import type { Received } from '../api/received.ts';
import type { SchemaName, ShapeInput } from '../api/schemas/index.ts';
import type { AsSent } from '../format/raw-records.ts';
import { type Clock, realMs } from '../platform/clock.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { hasCredentials, parseUrl } from '../platform/net/urls.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { secretsSent } from '../platform/redact/secrets-sent.ts';
import { credentialFor, type KeySource } from './credentials.ts';
import { UnavailableError } from './errors.ts';
import {
  checkedBase,
  type Input,
  isSafeToSend,
  isSameOrigin,
  type Prepared,
  prepare,
  prepareRaw,
  type RawRequest,
  requestLine,
  type Service,
  unpaid,
} from './request.ts';
import { type Advice, adviceToPeople, parseJson } from './response.ts';
import type { SendOptions, ServiceResponse } from './send.ts';
import { type Attempted, Scope, sendWithRetries } from './send.ts';
import { readSent } from './sent-records.ts';
import { failureOf, isHtml, unreadable } from './service-error.ts';
import type { Trace } from './trace.ts';
import { headerText, type Transport, TransportFailure, type WireHeaders } from './transport/transport.ts';
import { headersOfCredential } from './x402.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** `https://host/path`, or `embedded:`. */
  readonly baseUrl: string;
  readonly legacyBaseUrl?: string | undefined;
  readonly credentials: KeySource;
  /**
   * Timeout of a call, in ms, including the call's retries. For a stream, the timeout applies until the response
   * begins, and then to each pause between chunks.
   */
  readonly timeoutMs?: number | undefined;
  /** Called after the service has executed a write. */
  readonly onWritten?: (() => void) | undefined;
  /** Maximum number of retries after the first attempt. Defaults to the number for the operation's retry policy. */
  readonly retries?: number | undefined;
  readonly clock: Clock;
  /** Aborts every call. */
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
  /**
   * Creates a trace for a single call. The call's events go to this trace in addition to `trace`. The argument is
   * undefined for a call without an operation.
   */
  readonly observe?: ((operation: string | undefined) => Trace) | undefined;
  readonly random?: (() => number) | undefined;
  readonly allowPlainHttp?: boolean | undefined;
  /** Version of this program, for `user-agent`. */
  readonly version: string;
  /** Name of the program that uses this program, for `user-agent`. */
  readonly appInfo?: string | undefined;
  /** Hints for the client's errors; defaults to hints for people. */
  readonly advice?: Advice | undefined;
}

interface Head {
  readonly status: number;
  readonly headers: WireHeaders;
  readonly requestId: string | undefined;
  readonly attempts: number;
}

type Called<B> = Head & { readonly body: B };
/** Reading the chunks throws ErrandError if the response breaks off. */
type Streamed = Head & { readonly chunks: AsyncIterable<Uint8Array> };
/** A JSON response is read as a whole. Any other response is streamed. */
export type AnyResponse = Head &
  ({ readonly json: unknown } | { readonly chunks: AsyncIterable<Uint8Array> });

/**
 * Client of the service. The table of operations determines its types. Every method throws an ErrandError if it fails.
 * A UsageError is always thrown before anything is sent.
 */
export interface Client {
  /** Sends a call. Validates the parameters; callers must validate the body. */
  call<N extends CallName>(name: N, input: InputOf<N>, options?: CallOptions): Promise<Called<Received<N>>>;
  /** Streams a response of any length without buffering it. */
  stream<N extends StreamName>(name: N, input: InputOf<N>, options?: CallOptions): Promise<Streamed>;
  /** Sends any request, with the same retries and errors as a call. */
  raw(request: RawRequest, options?: CallOptions): Promise<AnyResponse>;
  /** Downloads from a signed link. Sends no credentials, wherever the link leads. */
  download(url: string, options?: CallOptions): Promise<Streamed>;
  close(): Promise<void>;
}

/** @throws UsageError for a base URL to which no key may be sent. */
export function createClient(options: ClientOptions): Client {
  const { transport, credentials, allowPlainHttp = false } = options;
  const service: Service = {
    base: checkedBase(options.baseUrl, allowPlainHttp),
    legacyBase:
      options.legacyBaseUrl === undefined ? undefined : checkedBase(options.legacyBaseUrl, allowPlainHttp),
    userAgent: [`errand/${options.version}`, options.appInfo].filter(Boolean).join(' '),
  };
  const connection: Connection = {
    transport,
    clock: options.clock,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    retries: options.retries,
    random: options.random ?? Math.random,
    trace: options.trace,
    observe: options.observe,
    allowPlainHttp,
    advice: options.advice ?? adviceToPeople,
  };
  const send = async (
    request: Prepared,
    streams: (headers: WireHeaders) => boolean,
    more: CallOptions & { readonly operation?: string } = {},
  ): Promise<Performed> => {
    const { auth, method, orderId, isKeyOptional: isOptional = false } = request;
    const keyRequest = { auth, method, orderId, isOptional, payment: more.payment };
    const credential = await credentialFor(keyRequest, credentials);
    const performed = await perform(connection, request, credential, {
      ...more,
      streams,
      follow: 'same-origin',
    });
    if (request.retry !== 'safe') options.onWritten?.();
    return performed;
  };
  // By construction, the input type of every operation is an `Input`, but the compiler cannot infer that from the
  // table.
  const prepared = <N extends OperationName>(name: N, input: InputOf<N>, more?: CallOptions): Prepared =>
    prepare(service, operations[name], input as Input, more?.headers);

  return {
    async call<N extends CallName>(name: N, input: InputOf<N>, more?: CallOptions) {
      const ready = prepared(name, input, more);
      const request = ready.auth === 'payment' && more?.payment === undefined ? unpaid(ready) : ready;
      const performed = await send(request, () => false, { ...more, operation: name });
      const body = goodBody(operations[name], request, performed, connection.advice, more?.takeSent);
      // The table determines the type. Only essential fields are checked, so that the service can add and change
      // others.
      return { ...headOf(performed), body: body as Received<N> };
    },
    async stream(name, input, more) {
      const request = prepared(name, input, more);
      const isOther = (headers: WireHeaders): boolean =>
        isHtml({ headers, bytes: noBytes }) || isJson(headers);
      const performed = await send(request, (headers) => !isOther(headers), { ...more, operation: name });
      return {
        ...headOf(performed),
        chunks: streamOf(operations[name], request, performed, connection.advice),
      };
    },
    async raw(request, more) {
      const performed = await send(prepareRaw(service, request), (headers) => !isJson(headers), more);
      const { stream, bytes } = performed.response;
      return { ...headOf(performed), ...(stream ? { chunks: stream } : wholeOf(bytes)) };
    },
    async download(url, more) {
      const performed = await perform(connection, downloadRequest(url, service, allowPlainHttp), undefined, {
        ...more,
        streams: () => true,
        follow: 'anywhere',
        isForeign: (link) => isForeign(link, service),
      });
      return {
        ...headOf(performed),
        chunks: performed.response.stream ?? oneChunk(performed.response.bytes),
      };
    },
    close: () => transport.close(),
  };
}

const noBytes = new Uint8Array();

function headOf({ response: { status, headers }, ended: { attempts } }: Performed): Head {
  return { status, headers, requestId: headerText(headers, 'x-request-id'), attempts };
}

function goodBody(
  operation: Operation,
  request: Prepared,
  { response, ended }: Performed,
  advice: Advice,
  takeSent?: CallOptions['takeSent'],
): unknown {
  const { body, problem } = readGoodResponse(operation, response, takeSent);
  if (problem !== undefined) throw unreadable(request, ended, problem, advice);
  return body;
}

function streamOf(
  operation: Operation,
  request: Prepared,
  performed: Performed,
  advice: Advice,
): AsyncIterable<Uint8Array> {
  const { stream } = performed.response;
  if (stream) return stream;
  goodBody(operation, request, performed, advice);
  throw unreadable(request, performed.ended, "JSON, not the service's CSV", advice);
}

function wholeOf(bytes: Uint8Array): { json: unknown } | { chunks: AsyncIterable<Uint8Array> } {
  const json = parseJson(bytes);
  return json === undefined ? { chunks: oneChunk(bytes) } : { json };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const isJson = (headers: WireHeaders): boolean =>
  /^\s*application\/(?:[\w.-]+\+)?json\b/i.test(headerText(headers, 'content-type') ?? '');

/** Whether a link leads to a host that the user did not name. All loopback addresses count as one host. Pure. */
function isForeign(link: URL, { base, legacyBase }: Pick<Service, 'base' | 'legacyBase'>): boolean {
  return ![base, legacyBase].some(
    (own) => own && (isSameOrigin(link, own) || (isLoopback(link.hostname) && isLoopback(own.hostname))),
  );
}

/**
 * Builds the request for a signed link, such as that of a return label. The link itself grants access, so no credential
 * is sent.
 * @throws UnavailableError for a link that is not a web address, or that is plain http to another machine.
 */
function downloadRequest(
  link: string,
  { userAgent }: Pick<Service, 'userAgent'>,
  allowPlainHttp: boolean,
): Prepared {
  const url = parseUrl(link);
  if (!url || !isSafeToSend(url, allowPlainHttp) || hasCredentials(url)) {
    throw new UnavailableError('the service sent a link that is not an https address', { retryable: false });
  }
  return {
    method: 'GET',
    url,
    isLink: true,
    headers: { accept: '*/*', 'user-agent': userAgent },
    auth: 'none',
    retry: 'safe',
    movesMoney: false,
    refusals: [],
  };
}

type Read =
  | { readonly body: unknown; readonly problem?: never }
  | { readonly problem: string; readonly body?: never };

/**
 * Reads a successful response. Validates only that the response is JSON and has the essential fields that the table
 * requires. Passes everything else through, so that the service can change it.
 * @param takeSent receives the records of a list, if they can be separated without parsing.
 * @returns the body without the records passed to `takeSent`, or a description of what was received instead.
 */
function readGoodResponse(
  { response, surface }: Pick<Operation, 'response' | 'surface'>,
  given: ServiceResponse,
  takeSent?: (sent: AsSent) => void,
): Read {
  if (isHtml(given)) return { problem: "HTML, not the service's JSON" };
  if (response.type !== 'json') return { body: undefined };
  if (given.bytes.byteLength === 0) return { problem: `${given.status} with an empty body` };
  const list = takeSent && response.rows !== undefined ? readSent(given.bytes, response.rows) : undefined;
  const body = list ? list.body : parseJson(given.bytes);
  if (body === undefined) return { problem: 'text that is not JSON' };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: "JSON that is not the service's: no object" };
  }
  const rows = response.rows === undefined ? undefined : own(body, response.rows);
  if (response.rows !== undefined && !Array.isArray(rows))
    return { problem: `JSON that is not the service's: it has no ${response.rows}` };
  const wrong = Object.entries(response.essential ?? {}).find(
    ([name, kind]) => !isOfKind[kind](own(body, name), surface),
  );
  if (!wrong) {
    if (list) takeSent?.(list.sent);
    return { body };
  }
  const [name, kind] = wrong;
  const what = own(body, name) === undefined ? `it has no ${name}` : `its ${name} is not ${kindNames[kind]}`;
  return { problem: `JSON that is not the service's: ${what}` };
}

type IsOfKind = (value: unknown, surface: Surface) => boolean;

/**
 * Validates an id. Paths, file names and commands are built from ids. In addition, a response may contain a secret in
 * place of an id, and that secret must not be stored. Current ids are UUIDs; the format of legacy ids is unknown.
 */
const isId = (value: unknown, pattern: RegExp): boolean =>
  typeof value === 'string' && pattern.test(value) && redactor.known(value) === value;

const isOfKind: Readonly<Record<EssentialKind, IsOfKind>> = {
  id: (value) => isId(value, idPattern),
  newId: (value, surface) => isId(value, surface === 'current' ? uuidPattern : idPattern),
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
};

const kindNames: Readonly<Record<EssentialKind, string>> = {
  id: 'an id',
  newId: 'an id',
  text: 'text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
};

type Table = typeof operations;
type Specs = Readonly<Record<string, Parameter>>;

type ValueOf<P extends Parameter> =
  | (P['type'] extends 'integer' | 'number'
      ? number
      : P['type'] extends 'boolean'
        ? boolean
        : P['type'] extends 'strings'
          ? readonly string[]
          : string)
  | (P extends { readonly nullable: true } ? null : never);

type RequiredNames<S extends Specs> = {
  [N in keyof S]: S[N] extends { readonly required: true } ? N : never;
}[keyof S];

/** Parameter values by name. */
export type QueryValues<S extends Specs> = { readonly [N in RequiredNames<S>]: ValueOf<S[N]> } & {
  readonly [N in Exclude<keyof S, RequiredNames<S>>]?: ValueOf<S[N]> | undefined;
};

/** Query parameters of an operation, by wire name. */
export type QueryOf<N extends OperationName> =
  Field<Table[N], 'query'> extends infer S extends Specs
    ? QueryValues<S>
    : { readonly [name: string]: never };

/**
 * A part of the input. The part is required if any of its fields is required, and absent if the operation has no such
 * fields.
 */
type Part<K extends string, S> = S extends Specs
  ? RequiredNames<S> extends never
    ? { readonly [P in K]?: QueryValues<S> | undefined }
    : { readonly [P in K]: QueryValues<S> }
  : unknown;

type BodyPart<B> = B extends { readonly schema: infer N extends SchemaName; readonly optional: true }
  ? { readonly body?: ShapeInput<N> | undefined }
  : B extends { readonly schema: infer N extends SchemaName }
    ? { readonly body: ShapeInput<N> }
    : unknown;

type Field<O, K extends string> = O extends { readonly [P in K]: infer V } ? V : undefined;

/** Input of an operation: path and query parameters by wire name, and the body. */
export type InputOf<N extends OperationName> = Part<'path', Field<Table[N], 'pathParameters'>> &
  Part<'query', Field<Table[N], 'query'>> &
  BodyPart<Field<Table[N], 'body'>>;

type RespondingWith<T extends Operation['response']['type']> = {
  [N in OperationName]: Table[N]['response']['type'] extends T ? N : never;
}[OperationName];

/** Operations whose response is read as a whole. */
export type CallName = RespondingWith<'json' | 'none'>;
/** Operations whose response is a stream of any length. */
export type StreamName = RespondingWith<'csv'>;

/** What all requests of a client share. */
interface Connection {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Timeout of a call, including the call's retries. For a stream, the timeout applies until the response begins, and
   * then to each pause between chunks.
   */
  readonly timeoutMs: number | undefined;
  readonly retries: number | undefined;
  readonly random: () => number;
  readonly trace: Trace | undefined;
  readonly observe: ClientOptions['observe'];
  readonly allowPlainHttp: boolean;
  readonly advice: Advice;
}

export interface CallOptions {
  /** Aborts this call, in addition to the client's signal. */
  readonly signal?: AbortSignal | undefined;
  /** Authorization header that pays for a call of an operation that is paid for by challenge. */
  readonly payment?: string | undefined;
  /** Overrides the client's timeout, ms. */
  readonly timeoutMs?: number | undefined;
  /** Overrides the client's number of retries. */
  readonly retries?: number | undefined;
  /** Additional headers. Headers that the request sets itself take precedence. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Upper limit for the duration of the call, in ms, even if the timeout is longer. */
  readonly maxMs?: number | undefined;
  /** Receives the records of a list in the service's compact JSON. The body then contains no records. */
  readonly takeSent?: ((sent: AsSent) => void) | undefined;
}

interface Performed {
  readonly response: ServiceResponse;
  readonly ended: Attempted;
}

type Handling = Pick<SendOptions, 'streams' | 'follow' | 'isForeign'> &
  CallOptions & { readonly operation?: string };

/**
 * Sends a request with retries and reads the response. For a stream, reads only the start of the response.
 * @throws ErrandError for anything but a 2xx response.
 */
async function perform(
  connection: Connection,
  request: Prepared,
  credential: string | undefined,
  handling: Handling,
): Promise<Performed> {
  const { clock, advice } = connection;
  const timeoutMs = minOf(handling.timeoutMs ?? connection.timeoutMs, handling.maxMs);
  const scope = new Scope([connection.signal, handling.signal], timeoutMs);
  const deadline = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
  const headers =
    credential === undefined ? request.headers : { ...request.headers, ...headersOfCredential(credential) };
  const { method, url, body, retry } = request;
  // The response may contain parts of the request.
  redactor.remember(secretsSent({ url, headers, body }));
  let isStreaming = false;
  try {
    const ended = await sendWithRetries(
      { method, url, headers, body, signal: scope.signal },
      {
        ...connection,
        ...handling,
        retries: handling.retries ?? connection.retries,
        trace: traceOf(connection, handling.operation),
        ...{ now: realMs, retry, deadline, scope },
      },
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

function traceOf({ trace, observe }: Connection, operation: string | undefined): Trace | undefined {
  const observed = observe?.(operation);
  if (!trace || !observed) return trace ?? observed;
  return (event) => {
    trace(event);
    observed(event);
  };
}

const minOf = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

/**
 * Wraps a streamed body, so that a broken stream becomes an error about the request. Each chunk may take the full
 * timeout. The time that the reader takes between chunks does not count.
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
    for await (const chunk of stream) {
      scope.liftDeadline();
      yield chunk;
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
