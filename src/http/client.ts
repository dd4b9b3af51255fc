import type { Operation } from '../api/operation.ts';
import { type OperationName, operations } from '../api/operations/index.ts';
import type { Received } from '../api/received.ts';
import type { Clock } from '../platform/clock.ts';
import { checkedBase } from './address.ts';
import { type Advice, adviceToPeople } from './advice.ts';
import type { CallName, InputOf, StreamName } from './client-types.ts';
import { credentialFor, type KeySource } from './credentials.ts';
import { downloadRequest, isForeign } from './download.ts';
import { unreadable } from './failed-request.ts';
import { readGoodResponse } from './good-response.ts';
import { type CallOptions, type Connection, type Performed, perform } from './perform.ts';
import { prepareRaw, type RawRequest } from './raw.ts';
import { parseJson } from './read-body.ts';
import { type Input, type Prepared, prepare, type Service, unpaid } from './request.ts';
import { isHtml } from './service-error.ts';
import type { Trace } from './trace.ts';
import { headerText, type Transport, type WireHeaders } from './transport/transport.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** `https://host/path`, or `embedded:`. */
  readonly baseUrl: string;
  readonly legacyBaseUrl?: string | undefined;
  readonly credentials: KeySource;
  /** For each call with all its attempts, ms; for what is streamed, until the response begins, and each pause in it. */
  readonly timeoutMs?: number | undefined;
  /** Called when the service has carried out a write. */
  readonly onWritten?: (() => void) | undefined;
  /** Attempts after the first one; without it what suits the operation. */
  readonly retries?: number | undefined;
  readonly clock: Clock;
  /** Ends every call. */
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
  readonly random?: (() => number) | undefined;
  readonly allowPlainHttp?: boolean | undefined;
  /** Of this program, for `user-agent`. */
  readonly version: string;
  /** In its errors; that to people unless given. */
  readonly advice?: Advice | undefined;
}

interface Head {
  readonly status: number;
  readonly headers: WireHeaders;
  readonly requestId: string | undefined;
  readonly attempts: number;
}

export type Called<B> = Head & { readonly body: B };
/** Reading the chunks throws ErrandError where the response breaks off. */
export type Streamed = Head & { readonly chunks: AsyncIterable<Uint8Array> };
/** JSON is read whole; anything else comes in chunks. */
export type AnyResponse = Head &
  ({ readonly json: unknown } | { readonly chunks: AsyncIterable<Uint8Array> });

/** The service, typed by the table of operations. Every method throws ErrandError, UsageError before anything is sent. */
export interface Client {
  /** The body is checked by the caller; parameters are checked here. */
  call<N extends CallName>(name: N, input: InputOf<N>, options?: CallOptions): Promise<Called<Received<N>>>;
  /** A response of any length, not kept in memory. */
  stream<N extends StreamName>(name: N, input: InputOf<N>, options?: CallOptions): Promise<Streamed>;
  /** Any request, with the same retries and errors. */
  raw(request: RawRequest, options?: CallOptions): Promise<AnyResponse>;
  /** A signed link of the service: no credential goes with it, wherever it leads. */
  download(url: string, options?: CallOptions): Promise<Streamed>;
  close(): Promise<void>;
}

/** @throws UsageError for a base URL that no key may be sent to. */
export function createClient(options: ClientOptions): Client {
  const { transport, credentials, allowPlainHttp = false } = options;
  const service: Service = {
    base: checkedBase(options.baseUrl, allowPlainHttp),
    legacyBase:
      options.legacyBaseUrl === undefined ? undefined : checkedBase(options.legacyBaseUrl, allowPlainHttp),
    userAgent: `errand/${options.version}`,
  };
  const connection: Connection = {
    transport,
    clock: options.clock,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    retries: options.retries,
    random: options.random ?? Math.random,
    trace: options.trace,
    allowPlainHttp,
    advice: options.advice ?? adviceToPeople,
  };
  const send = async (
    request: Prepared,
    streams: (headers: WireHeaders) => boolean,
    more: CallOptions = {},
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
  // Each input type is one of these by its making; the compiler does not look that far into the table.
  const prepared = <N extends OperationName>(name: N, input: InputOf<N>): Prepared =>
    prepare(service, operations[name], input as Input);

  return {
    async call<N extends CallName>(name: N, input: InputOf<N>, more?: CallOptions) {
      const ready = prepared(name, input);
      const request = ready.auth === 'payment' && more?.payment === undefined ? unpaid(ready) : ready;
      const performed = await send(request, () => false, more);
      const body = goodBody(operations[name], request, performed, connection.advice, more?.takeSent);
      // The table says which shape it is; of that only the essential is checked, so that the service may grow.
      return { ...headOf(performed), body: body as Received<N> };
    },
    async stream(name, input, more) {
      const request = prepared(name, input);
      const isOther = (headers: WireHeaders): boolean =>
        isHtml({ headers, bytes: noBytes }) || isJson(headers);
      const performed = await send(request, (headers) => !isOther(headers), more);
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
