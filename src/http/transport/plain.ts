import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { type LookupFunction, Socket } from 'node:net';
import type { Carrier, Exchange, Sending } from './exchange.ts';
import { TransportFailure, type WireHeaders } from './transport.ts';

/** How connections are made. */
export interface Connecting {
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
