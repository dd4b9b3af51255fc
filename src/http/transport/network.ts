import { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { type ProxySettings, proxyFor } from '../proxy.ts';
import { acceptedCodings, decodedBody, pieces } from './decode.ts';
import { Exchange } from './exchange.ts';
import { Inward } from './inward.ts';
import {
  defaultTimeouts,
  headerText,
  type Timeouts,
  type Transport,
  TransportFailure,
  type WireRequest,
  type WireResponse,
} from './transport.ts';
import { Agent, connectorOf } from './undici-internals.ts';

/** Bytes of all headers of a response. */
const maxHeaderSize = 64 * 1024;

export interface NetworkOptions {
  readonly proxy?: ProxySettings;
  readonly timeouts?: Partial<Timeouts>;
}

/** The network: one pool of kept-alive connections, directly or through the proxies that are given. */
export class NetworkTransport implements Transport {
  readonly #timeouts: Timeouts;
  readonly #proxies: ProxySettings;
  readonly #dispatchers = new Map<string, Promise<Dispatcher>>();
  /** Sockets that still connect; they would keep the process alive after everyone has given up. */
  readonly #connecting = new Set<Socket>();
  readonly #inward = new Inward();

  constructor({ proxy = {}, timeouts = {} }: NetworkOptions = {}) {
    this.#timeouts = { ...defaultTimeouts, ...timeouts };
    this.#proxies = proxy;
  }

  async send({ method, url, headers, body, signal, isForeign = false }: WireRequest): Promise<WireResponse> {
    if (signal.aborted)
      throw new TransportFailure('not_sent', 'the request was given up', { cause: signal.reason });
    if (isForeign) this.#inward.checkLiteral(url);
    const dispatcher = await this.#dispatcherFor(proxyFor(url, this.#proxies), isForeign);
    const exchange = new Exchange(signal);
    dispatcher.dispatch(
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
    const dispatchers = await Promise.all(this.#dispatchers.values());
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  #dispatcherFor(proxy: URL | undefined, isForeign: boolean): Promise<Dispatcher> {
    const name = proxy?.href ?? (isForeign ? 'foreign' : 'own');
    const known = this.#dispatchers.get(name);
    if (known) return known;
    const made = proxy ? this.#throughProxy(proxy) : Promise.resolve(this.#direct(isForeign));
    this.#dispatchers.set(name, made);
    return made;
  }

  #direct(isForeign: boolean): Dispatcher {
    return new Agent({ maxHeaderSize, connect: this.#connector(isForeign) });
  }

  async #throughProxy(proxy: URL): Promise<Dispatcher> {
    const { proxyDispatcher } = await import('./proxy-dispatcher.ts');
    return proxyDispatcher(proxy, { maxHeaderSize, timeouts: this.#timeouts });
  }

  #connector(isForeign: boolean): buildConnector.connector {
    const inward = this.#inward;
    const connect = connectorOf({
      timeout: this.#timeouts.connectMs,
      lookup: isForeign ? inward.foreignLookup : inward.ownLookup,
    });
    return (options, callback) => {
      const socket: unknown = connect(options, (...result) => {
        if (socket instanceof Socket) {
          this.#connecting.delete(socket);
          if (!isForeign) inward.reached(socket.remoteAddress);
        }
        callback(...result);
      });
      if (socket instanceof Socket) this.#connecting.add(socket);
    };
  }
}
