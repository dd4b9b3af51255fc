import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { type LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import type { buildConnector } from 'undici';
import { type AddressKind, addressKind, literalAddress } from '../../platform/net/addresses.ts';
import { checkedLookup, localLookup } from '../../platform/net/lookup.ts';
import { clearTimeout, setImmediate, setTimeout } from '../../platform/own-timers.ts';
import { type ProxySettings, proxyFor } from '../proxy.ts';
import { networkFailure } from '../response.ts';
import { Exchange, type Sending, type WireTransport } from './exchange.ts';
import {
  defaultTimeouts,
  givenUp,
  headerText,
  type Timeouts,
  type Transport,
  TransportFailure,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from './transport.ts';

/** Maximum size of all response headers together, in bytes. */
const maxHeaderSize = 64 * 1024;

/**
 * Default for `plain`. After this many requests, loading undici is worth the time, because undici has the higher
 * throughput.
 */
const defaultPlain = 8;

export interface NetworkOptions {
  readonly proxy?: ProxySettings;
  readonly timeouts?: Partial<Timeouts>;
  /** Number of requests that are sent with Node's own HTTP before undici is used. */
  readonly plain?: number;
}

/** Network transport. Keeps pools of open connections, either direct or through the configured proxies. */
export class NetworkTransport implements Transport {
  readonly #timeouts: Timeouts;
  readonly #proxies: ProxySettings;
  readonly #carriers = new Map<string, Promise<WireTransport>>();
  /** Sockets that are still connecting. They would keep the process alive after all callers have given up. */
  readonly #connecting = new Set<Socket>();
  readonly #egressGuard = new EgressGuard();
  #plainLeft: number;

  constructor({ proxy = {}, timeouts = {}, plain = defaultPlain }: NetworkOptions = {}) {
    this.#timeouts = { ...defaultTimeouts, ...timeouts };
    this.#proxies = proxy;
    this.#plainLeft = plain;
  }

  async send({ method, url, headers, body, signal, isForeign = false }: WireRequest): Promise<WireResponse> {
    if (signal.aborted) throw givenUp('not_sent', signal);
    if (isForeign) this.#egressGuard.checkLiteral(url);
    const transport = await this.#transportFor(url, isForeign);
    if (signal.aborted) throw givenUp('not_sent', signal);
    const exchange = new Exchange(signal);
    transport.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: { 'accept-encoding': acceptedCodings, ...headers },
        body: body ?? null,
        headersTimeout: this.#timeouts.headersMs,
        bodyTimeout: this.#timeouts.bodyMs,
      },
      exchange,
    );
    const { status, headers: received, body: raw } = await exchange.response;
    const isEmpty = method === 'HEAD' || status === 204 || headerText(received, 'content-length') === '0';
    const decoded = await decodedBody(raw, received, isEmpty);
    return { status, headers: received, body: chunks(decoded), discard: () => void decoded.destroy() };
  }

  async close(): Promise<void> {
    for (const socket of this.#connecting) socket.destroy();
    // Ignore failures, because a transport that failed to start has nothing to close.
    await Promise.allSettled(
      [...this.#carriers.values()].map(async (transport) => (await transport).destroy()),
    );
  }

  #transportFor(url: URL, isForeign: boolean): Promise<WireTransport> {
    const proxy = proxyFor(url, this.#proxies);
    if (proxy) return this.#cached(proxy.href, () => this.#throughProxy(proxy));
    const { protocol } = url;
    const whose = isForeign ? 'foreign' : 'own';
    if (this.#plainLeft <= 0) return this.#cached(whose, () => this.#byUndici(isForeign));
    this.#plainLeft -= 1;
    return this.#cached(`${whose} ${protocol}`, () => this.#plain(protocol, isForeign));
  }

  #cached(name: string, make: () => Promise<WireTransport>): Promise<WireTransport> {
    const known = this.#carriers.get(name);
    if (known) return known;
    const made = make();
    this.#carriers.set(name, made);
    made.catch(() => this.#carriers.delete(name));
    return made;
  }

  #plain(protocol: string, isForeign: boolean): Promise<WireTransport> {
    return plainTransport(protocol, {
      lookup: this.#lookup(isForeign),
      connectMs: this.#timeouts.connectMs,
      maxHeaderSize,
      started: (socket) => void this.#connecting.add(socket),
      ended: (socket) => this.#connected(socket, isForeign),
    });
  }

  async #byUndici(isForeign: boolean): Promise<WireTransport> {
    const { Agent, connectorOf } = await import('./undici-internals.ts');
    const connect = connectorOf({ timeout: this.#timeouts.connectMs, lookup: this.#lookup(isForeign) });
    const watched: buildConnector.connector = (options, callback) => {
      const socket: unknown = connect(options, (...result) => {
        if (socket instanceof Socket) this.#connected(socket, isForeign);
        callback(...result);
      });
      if (socket instanceof Socket) this.#connecting.add(socket);
    };
    return new Agent({ maxHeaderSize, connect: watched });
  }

  async #throughProxy(proxy: URL): Promise<WireTransport> {
    const { proxyDispatcher } = await import('./proxy-dispatcher.ts');
    return proxyDispatcher(proxy, { maxHeaderSize, timeouts: this.#timeouts });
  }

  #lookup(isForeign: boolean): LookupFunction {
    return isForeign ? this.#egressGuard.foreignLookup : this.#egressGuard.ownLookup;
  }

  #connected(socket: Socket, isForeign: boolean): void {
    this.#connecting.delete(socket);
    if (!isForeign) this.#egressGuard.reached(socket.remoteAddress);
  }
}

/** Value of `accept-encoding`. No other coding is decoded. */
const acceptedCodings = 'gzip, br';

/** Decoders are loaded only for a response that is encoded. Small responses are not encoded. */
const decoders: Readonly<Record<string, () => Promise<Transform>>> = {
  gzip: async () => (await import('node:zlib')).createGunzip(),
  'x-gzip': async () => (await import('node:zlib')).createGunzip(),
  br: async () => (await import('node:zlib')).createBrotliDecompress(),
};

/**
 * Decodes the content coding of a body chunk by chunk, so that memory use stays constant however much the body expands.
 * @param isEmpty tells that the response cannot have a body (HEAD, 204). Nothing is decoded then, whatever the headers
 * say.
 * @throws TransportFailure for a coding that was not requested. Also for nested codings, with which decompression bombs
 * are made.
 */
async function decodedBody(body: Readable, headers: WireHeaders, isEmpty: boolean): Promise<Readable> {
  const coding = (headerText(headers, 'content-encoding') ?? '').trim().toLowerCase();
  if (isEmpty || coding === '' || coding === 'identity') return body;
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!decoder) {
    body.destroy();
    throw new TransportFailure(
      'unknown',
      `the response is coded as "${coding.slice(0, 40)}", which was not requested`,
      {
        isPermanent: true,
      },
    );
  }
  // Ignore the error here. The decoder emits the same error, so the reader of the decoder sees it.
  return pipeline(body, await decoder(), () => {});
}

/** Yields the chunks of a body. @throws TransportFailure if the body breaks off or cannot be decoded. */
async function* chunks(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
    // undici releases the connection one turn of the event loop later. A request made before then would open another
    // connection.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    throw isCoding(error) ? brokenCoding(error) : networkFailure(error, 'unknown');
  }
}

const isCoding = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_PADDING)/.test(String(error.code));

/** If the stream was cut off, the connection broke. Any other decoding error is permanent. */
const brokenCoding = (cause: unknown): TransportFailure =>
  new TransportFailure('unknown', 'the compressed response is broken', {
    isPermanent: !(cause instanceof Error && 'code' in cause && cause.code === 'Z_BUF_ERROR'),
    cause,
  });

/**
 * Kinds of addresses, from public to innermost. A link never leads to a `forbidden` address. However, the service
 * itself may have such an address if the user entered it.
 */
const inwards: readonly AddressKind[] = ['public', 'private', 'forbidden', 'loopback'];

const places: Readonly<Record<AddressKind, string>> = {
  public: 'leads to the internet',
  private: 'leads to a private network, and the service is not on one',
  forbidden: 'leads to a link-local or reserved address',
  loopback: 'leads to this machine, and the service is not on this machine',
};

/**
 * Prevents server-side request forgery: a link from the service may lead no further inward than the service itself.
 * Otherwise, a service on the internet could make this machine call other machines in its own network.
 */
export class EgressGuard {
  #reached: AddressKind = 'public';

  /** Resolves host names given by the user. */
  readonly ownLookup: LookupFunction = localLookup;
  /** Resolves host names given by the service. */
  readonly foreignLookup: LookupFunction = checkedLookup((address) => this.#denial(address));

  /** Records that the service was reached at an address. */
  reached(address: string | undefined): void {
    const kind = address === undefined ? 'public' : addressKind(address);
    if (inwards.indexOf(kind) > inwards.indexOf(this.#reached)) this.#reached = kind;
  }

  /**
   * Checks a literal IP address, for which no lookup takes place.
   * @throws TransportFailure if the address leads inward.
   */
  checkLiteral(url: URL): void {
    const address = literalAddress(url);
    const denial = address === undefined ? undefined : this.#denial(address);
    if (denial) throw denial;
  }

  #denial(address: string): TransportFailure | undefined {
    const kind = addressKind(address);
    const isAllowed = kind !== 'forbidden' && inwards.indexOf(kind) <= inwards.indexOf(this.#reached);
    if (isAllowed) return undefined;
    const message = `the service's link ${places[kind]} (${address})`;
    return new TransportFailure('not_sent', message, { isPermanent: true });
  }
}

interface Connecting {
  readonly lookup: LookupFunction;
  readonly connectMs: number;
  /** Maximum size of all response headers together, in bytes. */
  readonly maxHeaderSize: number;
  /**
   * Called when a socket starts connecting. `ended` is called when it stops connecting, whether it succeeded or failed.
   */
  started(socket: Socket): void;
  ended(socket: Socket): void;
}

/** How long an idle connection is kept open, in ms; the same as in undici. */
const idleMs = 4_000;

/**
 * Sends requests with Node's own HTTP. It starts faster than undici, whose parser is compiled from WebAssembly. If
 * there are many requests, undici is faster.
 */
export async function plainTransport(protocol: string, connecting: Connecting): Promise<WireTransport> {
  const https = protocol === 'https:' ? await import('node:https') : undefined;
  const { lookup, maxHeaderSize } = connecting;
  const options = { keepAlive: true, keepAliveMsecs: 60_000, timeout: idleMs, lookup };
  const agent = https ? new https.Agent(options) : new Agent(options);
  connectFirst(agent, https ? 'secureConnect' : 'connect', connecting);
  dropWhatEndsSooner(agent);
  const request = https?.request ?? httpRequest;
  return {
    dispatch: (sending, exchange) =>
      carry((more) => request({ ...more, agent, maxHeaderSize }), sending, exchange),
    destroy: async () => agent.destroy(),
  };
}

/**
 * Gives a request its socket only once the connection is established, including TLS. Before the `socket` event, nothing
 * can have been sent.
 */
function connectFirst(agent: Agent, readyEvent: 'connect' | 'secureConnect', connecting: Connecting): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (to, done = () => {}) => {
    const socket = connect(to);
    if (!(socket instanceof Socket)) throw new Error('Node connects by a socket');
    connecting.started(socket);
    let isOver = false;
    const end = (error: Error | null): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      connecting.ended(socket);
      done(error, socket);
    };
    const timer = setTimeout(
      () => socket.destroy(new TransportFailure('not_sent', 'connecting took too long')),
      connecting.connectMs,
    );
    // A later error is about the request that the socket carries by then. If there is no request, the error must not
    // crash the process.
    socket
      .on('error', end)
      .on('close', () => end(new TransportFailure('not_sent', 'the connection was closed')))
      .on(readyEvent, () => end(null));
    return undefined;
  };
}

/**
 * Does not reuse a connection that the service keeps open for less than `idleMs`. A request that is sent just as the
 * service closes the connection would be in doubt.
 */
function dropWhatEndsSooner(agent: Agent): void {
  const keepAlive = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    // Node drops a connection that the service keeps open for a second or less. For any other connection, Node lowers
    // the timeout to what the service announces.
    const isReusable: unknown = keepAlive(socket);
    return isReusable === true && socket instanceof Socket && socket.timeout === idleMs;
  };
}

function carry(
  open: (options: RequestOptions) => ClientRequest,
  { origin, path, method, headers, body, headersTimeout, bodyTimeout }: Sending,
  exchange: Exchange,
): void {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  let response: IncomingMessage | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (error) exchange.onResponseError(undefined, isCutOff(error) ? cutOff(error) : error);
    else exchange.onResponseEnd();
  };
  const options = { protocol, host, port, path, method, headers: { ...headers, ...lengthOf(method, body) } };
  const request = opened(() => open(options), exchange);
  if (!request) return;
  const within = (ms: number, message: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // The reader has paused the response. If the reader is slow, that does not mean that the service is slow.
      if (response?.isPaused()) timer?.refresh();
      else request.destroy(new TransportFailure('unknown', message));
    }, ms);
  };
  const controller = {
    abort: (reason: Error): void => void request.destroy(reason),
    pause: (): void => void response?.pause(),
    resume: (): void => {
      timer?.refresh();
      response?.resume();
    },
  };
  // The number of headers needs no limit of its own, because their total size is limited.
  request.maxHeadersCount = 0;
  request
    .on('socket', () => {
      within(headersTimeout, 'no response came in time');
      exchange.onRequestStart(controller);
    })
    .on('response', (it) => {
      response = it;
      within(bodyTimeout, 'the response stopped half-way');
      it.on('data', (chunk: Buffer) => {
        timer?.refresh();
        exchange.onResponseData(controller, chunk);
      });
      it.on('end', () => end()).on('error', end);
      exchange.onResponseStart(controller, it.statusCode ?? 0, headersOf(it.rawHeaders));
    })
    .on('error', end)
    .on('close', () => {
      if (!response) end(cutOff());
    });
  request.end(body ?? undefined);
}

/** If a request is invalid, Node throws immediately. */
function opened(open: () => ClientRequest, exchange: Exchange): ClientRequest | undefined {
  try {
    return open();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    exchange.fail(new TransportFailure('not_sent', message, { isPermanent: true, cause }));
    return undefined;
  }
}

/** Sets `content-length` as undici does; Node sends none for a DELETE with a body. */
function lengthOf(method: string, body: Uint8Array | null): { 'content-length'?: string } {
  const length = body?.length ?? 0;
  return length > 0 || /^(?:POST|PUT|PATCH)$/.test(method) ? { 'content-length': String(length) } : {};
}

/** All headers as received, by lower-case name. */
function headersOf(raw: readonly string[]): WireHeaders {
  const found = new Map<string, string | string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    const value = raw[at + 1] ?? '';
    const before = found.get(name);
    found.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(found);
}

/**
 * Node reports a connection that was cut off with one of these two messages. If the peer resets the connection, the
 * message differs.
 */
const isCutOff = ({ message }: Error): boolean => message === 'socket hang up' || message === 'aborted';

const cutOff = (cause?: Error): TransportFailure =>
  new TransportFailure('unknown', 'the connection was closed before the response was whole', { cause });
