import { type LookupFunction, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { type ProxySettings, proxyFor } from '../proxy.ts';
import { acceptedCodings, decodedBody, pieces } from './decode.ts';
import { type Carrier, Exchange } from './exchange.ts';
import { givenUp } from './in-time.ts';
import { Inward } from './inward.ts';
import { plainCarrier } from './plain.ts';
import {
  defaultTimeouts,
  headerText,
  type Timeouts,
  type Transport,
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
