import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { type LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import type { buildConnector } from 'undici';
import { type AddressKind, addressKind, literalAddress } from '../../platform/net/addresses.ts';
import { checkedLookup, localLookup } from '../../platform/net/lookup.ts';
import { type ProxySettings, proxyFor } from '../proxy.ts';
import { networkFailure } from '../response.ts';
import { type Carrier, Exchange, type Sending } from './exchange.ts';
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

/** Bytes of all headers of a response. */
const maxHeaderSize = 64 * 1024;

/** After so many requests undici is worth loading; it carries more of them in a time. */
const usualPlain = 8;

export interface NetworkOptions {
  readonly proxy?: ProxySettings;
  readonly timeouts?: Partial<Timeouts>;
  /** How many requests go by Node's own HTTP before undici carries the rest. */
  readonly plain?: number;
}

/** The network: pools of kept-alive connections, directly or through the proxies that are given. */
export class NetworkTransport implements Transport {
  readonly #timeouts: Timeouts;
  readonly #proxies: ProxySettings;
  readonly #carriers = new Map<string, Promise<Carrier>>();
  /** Sockets that still connect; they would keep the process alive after everyone has given up. */
  readonly #connecting = new Set<Socket>();
  readonly #inward = new Inward();
  #plainLeft: number;

  constructor({ proxy = {}, timeouts = {}, plain = usualPlain }: NetworkOptions = {}) {
    this.#timeouts = { ...defaultTimeouts, ...timeouts };
    this.#proxies = proxy;
    this.#plainLeft = plain;
  }

  async send({ method, url, headers, body, signal, isForeign = false }: WireRequest): Promise<WireResponse> {
    if (signal.aborted) throw givenUp('not_sent', signal);
    if (isForeign) this.#inward.checkLiteral(url);
    const carrier = await this.#carrierFor(url, isForeign);
    if (signal.aborted) throw givenUp('not_sent', signal);
    const exchange = new Exchange(signal);
    carrier.dispatch(
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
    return { status, headers: received, body: pieces(decoded), discard: () => void decoded.destroy() };
  }

  async close(): Promise<void> {
    for (const socket of this.#connecting) socket.destroy();
    // One that could not be made has nothing to close.
    await Promise.allSettled([...this.#carriers.values()].map(async (carrier) => (await carrier).destroy()));
  }

  #carrierFor(url: URL, isForeign: boolean): Promise<Carrier> {
    const proxy = proxyFor(url, this.#proxies);
    if (proxy) return this.#kept(proxy.href, () => this.#throughProxy(proxy));
    const { protocol } = url;
    const whose = isForeign ? 'foreign' : 'own';
    if (this.#plainLeft <= 0) return this.#kept(whose, () => this.#byUndici(isForeign));
    this.#plainLeft -= 1;
    return this.#kept(`${whose} ${protocol}`, () => this.#plain(protocol, isForeign));
  }

  #kept(name: string, make: () => Promise<Carrier>): Promise<Carrier> {
    const known = this.#carriers.get(name);
    if (known) return known;
    const made = make();
    this.#carriers.set(name, made);
    made.catch(() => this.#carriers.delete(name));
    return made;
  }

  #plain(protocol: string, isForeign: boolean): Promise<Carrier> {
    return plainCarrier(protocol, {
      lookup: this.#lookup(isForeign),
      connectMs: this.#timeouts.connectMs,
      maxHeaderSize,
      begun: (socket) => void this.#connecting.add(socket),
      ended: (socket) => this.#connected(socket, isForeign),
    });
  }

  async #byUndici(isForeign: boolean): Promise<Carrier> {
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

  async #throughProxy(proxy: URL): Promise<Carrier> {
    const { proxyDispatcher } = await import('./proxy-dispatcher.ts');
    return proxyDispatcher(proxy, { maxHeaderSize, timeouts: this.#timeouts });
  }

  #lookup(isForeign: boolean): LookupFunction {
    return isForeign ? this.#inward.foreignLookup : this.#inward.ownLookup;
  }

  #connected(socket: Socket, isForeign: boolean): void {
    this.#connecting.delete(socket);
    if (!isForeign) this.#inward.reached(socket.remoteAddress);
  }
}

/** What is requested in `accept-encoding`; nothing else is decoded. */
const acceptedCodings = 'gzip, br';

/** Loaded for a response that is coded, which one of a few kilobytes is not. */
const decoders: Readonly<Record<string, () => Promise<Transform>>> = {
  gzip: async () => (await import('node:zlib')).createGunzip(),
  'x-gzip': async () => (await import('node:zlib')).createGunzip(),
  br: async () => (await import('node:zlib')).createBrotliDecompress(),
};

/**
 * The body with its content coding undone, piece by piece: memory stays flat however much comes out of it.
 * @param isEmpty a body that cannot be there (HEAD, 204) is not decoded, whatever the headers say.
 * @throws TransportFailure for a coding that was not requested; codings upon codings are how bombs are built.
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
  // The error is the decoder's too; whoever reads it sees it there.
  return pipeline(body, await decoder(), () => {});
}

/** Reads a body's pieces. @throws TransportFailure where it breaks off or cannot be decoded. */
async function* pieces(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece;
    // undici frees the connection a turn later; a request made before that would open another one.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    throw isCoding(error) ? brokenCoding(error) : networkFailure(error, 'unknown');
  }
}

const isCoding = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_PADDING)/.test(String(error.code));

/** A stream that ends too early is a broken connection; anything else stays broken. */
const brokenCoding = (cause: unknown): TransportFailure =>
  new TransportFailure('unknown', 'the compressed response is broken', {
    isPermanent: !(cause instanceof Error && 'code' in cause && cause.code === 'Z_BUF_ERROR'),
    cause,
  });

/** From the outside inwards. Link-local addresses are only ever reached because the user wrote one. */
const inwards: readonly AddressKind[] = ['public', 'private', 'forbidden', 'loopback'];

const places: Readonly<Record<AddressKind, string>> = {
  public: 'leads to the internet',
  private: 'leads to a private network, and the service is not on one',
  forbidden: 'leads to a link-local or reserved address',
  loopback: 'leads to this machine, and the service is not on this machine',
};

/**
 * Keeps links that a service gives from leading further inward than the service itself is: a service on the internet
 * could otherwise make this machine ask others in its own network.
 */
export class Inward {
  #reached: AddressKind = 'public';

  /** Resolves the addresses that the user named. */
  readonly ownLookup: LookupFunction = localLookup;
  /** Resolves those that the service named. */
  readonly foreignLookup: LookupFunction = checkedLookup((address) => this.#refusal(address));

  /** The service was reached at an address. */
  reached(address: string | undefined): void {
    const kind = address === undefined ? 'public' : addressKind(address);
    if (inwards.indexOf(kind) > inwards.indexOf(this.#reached)) this.#reached = kind;
  }

  /** An address that is written as a number is never looked up. @throws TransportFailure for one that leads inward. */
  checkLiteral(url: URL): void {
    const address = literalAddress(url);
    const refusal = address === undefined ? undefined : this.#refusal(address);
    if (refusal) throw refusal;
  }

  #refusal(address: string): TransportFailure | undefined {
    const kind = addressKind(address);
    const isAllowed = kind !== 'forbidden' && inwards.indexOf(kind) <= inwards.indexOf(this.#reached);
    if (isAllowed) return undefined;
    const message = `the service's link ${places[kind]} (${address})`;
    return new TransportFailure('not_sent', message, { isPermanent: true });
  }
}

/** How connections are made. */
interface Connecting {
  readonly lookup: LookupFunction;
  readonly connectMs: number;
  /** Bytes of all headers of a response. */
  readonly maxHeaderSize: number;
  /** Told of each socket that begins to connect, and of each that has ended to, however it went. */
  begun(socket: Socket): void;
  ended(socket: Socket): void;
}

/** How long a connection waits for its next request, ms; undici lets it wait as long. */
const idleMs = 4_000;

/**
 * Carries requests by Node's own HTTP. A process that makes few of them is ready sooner than with undici, whose parser is
 * compiled from WebAssembly; one that makes many is faster with undici.
 */
export async function plainCarrier(protocol: string, connecting: Connecting): Promise<Carrier> {
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

/** Hands a request its socket only once the connection stands, TLS included: before `socket` nothing can have been sent. */
function connectFirst(agent: Agent, standing: 'connect' | 'secureConnect', connecting: Connecting): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (to, done = () => {}) => {
    const socket = connect(to);
    if (!(socket instanceof Socket)) throw new Error('Node connects by a socket');
    connecting.begun(socket);
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
    // A failure later on is its request's; where it has none just then, it must not end the process.
    socket
      .on('error', end)
      .on('close', () => end(new TransportFailure('not_sent', 'the connection was closed')))
      .on(standing, () => end(null));
    return undefined;
  };
}

/**
 * A request that is sent just as the service closes the connection is left in doubt. So a connection that the service keeps
 * for less than `idleMs` is not used again.
 */
function dropWhatEndsSooner(agent: Agent): void {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    // Node refuses one that the service keeps for a second at most, and else lowers its timeout to what the service says.
    const isKept: unknown = keep(socket);
    return isKept === true && socket instanceof Socket && socket.timeout === idleMs;
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
  const asked = { protocol, host, port, path, method, headers: { ...headers, ...lengthOf(method, body) } };
  const request = opened(() => open(asked), exchange);
  if (!request) return;
  const within = (ms: number, message: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // The reader has paused it: a slow reader is no slow service.
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
  // However many there are: their size is bounded.
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

/** Node refuses at once what cannot be written as a request. */
function opened(open: () => ClientRequest, exchange: Exchange): ClientRequest | undefined {
  try {
    return open();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    exchange.fail(new TransportFailure('not_sent', message, { isPermanent: true, cause }));
    return undefined;
  }
}

/** The `content-length` that undici would send; Node sends none for a DELETE with a body. */
function lengthOf(method: string, body: Uint8Array | null): { 'content-length'?: string } {
  const length = body?.length ?? 0;
  return length > 0 || /^(?:POST|PUT|PATCH)$/.test(method) ? { 'content-length': String(length) } : {};
}

/** All of them, by lower-case names, as they came. */
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

/** Node has two messages for a connection that ends where more was due; a reset by the other side has a third. */
const isCutOff = ({ message }: Error): boolean => message === 'socket hang up' || message === 'aborted';

const cutOff = (cause?: Error): TransportFailure =>
  new TransportFailure('unknown', 'the connection was closed before the response was whole', { cause });
