import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { ClientMessages } from './client-messages.ts';

/** `cut` closes the connection; `silence` keeps it open but passes no data in either direction. */
type End = 'cut' | 'silence';

/** A fault at a client's message. It occurs once. */
export interface MessageFault {
  /** Matched against statement text, also when a prepared statement is re-executed. */
  readonly at: RegExp;
  /** Whether the server receives the message and anything sent along with it; the response is always lost. */
  readonly arrives: boolean;
  readonly end: End;
  /** Number of matching messages to let through first. */
  readonly skip?: number;
  /** Called before the fault, while the message has not arrived. */
  readonly onMessage?: () => void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly messages: ClientMessages;
  isSilent: boolean;
  /** Whether the client has received anything since it last sent. */
  hasResponse: boolean;
}

/** The last bytes the server receives, and how the connection fails. */
interface Spoilt {
  readonly last: Buffer;
  readonly end: End;
}

/** Delay of responses, ms, so that messages a client sends in a burst count as one round trip. */
const countingDelayMs = 5;

/** A proxy between errand and PostgreSQL that injects connection faults and counts traffic. */
export class DatabaseProxy {
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  #server: Server;
  #port = 0;
  #faults: MessageFault[] = [];
  #bytes: { readonly left: number; readonly end: End } | undefined;
  #roundTrips = 0;
  #connections = 0;
  #statements: string[] = [];
  #swallows = false;
  /** Simulated network latency in each direction, ms. */
  delayMs = 0;
  /** Whether to delay responses for counting round trips. */
  counts = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = this.#makeServer();
  }

  /** Starts a proxy, which the caller must close. @param target the server's port. */
  static async start(target: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    await proxy.accept();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Rewrites a server URL to go through the proxy. */
  url(address: string): string {
    const url = new URL(address);
    url.port = String(this.#port);
    return url.href;
  }

  /** Number of times a client sent after receiving a response, since the last reset. */
  get roundTrips(): number {
    return this.#roundTrips;
  }

  /** Number of connections opened since the last reset. */
  get connections(): number {
    return this.#connections;
  }

  /** Statements sent by clients since the last reset. */
  get statements(): readonly string[] {
    return this.#statements;
  }

  reset(): void {
    [this.#roundTrips, this.#connections, this.#statements] = [0, 0, []];
  }

  /** Closes all open connections. */
  cut(): void {
    for (const pair of this.#pairs) breakOff(pair);
  }

  /** Stops passing data on open connections. */
  silence(): void {
    for (const pair of this.#pairs) pair.isSilent = true;
  }

  /** Like `silence`, and applies to new connections too until `heal`: a black hole. */
  swallow(): void {
    this.#swallows = true;
    this.silence();
  }

  /** Closes all connections and refuses new ones until `accept`. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Accepts connections on the same port as before. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server = this.#makeServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Sets the faults for upcoming matching messages; replaces earlier ones. */
  faultAt(...faults: readonly MessageFault[]): void {
    this.#faults = [...faults];
  }

  /** Fails once clients have sent this many more bytes, possibly mid-message. */
  faultAfter(bytes: number, end: End): void {
    this.#bytes = { left: bytes, end };
  }

  /** Clears all faults; silenced connections are cut. */
  async heal(): Promise<void> {
    this.#faults = [];
    this.#bytes = undefined;
    this.#swallows = false;
    for (const pair of this.#pairs) if (pair.isSilent) breakOff(pair);
    await this.accept();
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }

  #makeServer(): Server {
    return createServer((client) => this.#take(client));
  }

  #take(client: Socket): void {
    this.#connections += 1;
    const server = connect({ port: this.#target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const messages = new ClientMessages();
    const pair: Pair = { client, server, messages, isSilent: this.#swallows, hasResponse: true };
    this.#pairs.add(pair);
    const gone = (): void => {
      // With a silenced connection, neither side may learn that the other is gone.
      if (!pair.isSilent) breakOff(pair);
      if (client.destroyed && server.destroyed) this.#pairs.delete(pair);
    };
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', gone);
    client.on('data', (chunk) => this.#fromClient(pair, chunk));
    server.on('data', (chunk) => this.#fromServer(pair, chunk));
    client.on('end', () => void (pair.isSilent || server.end()));
    server.on('end', () => void (pair.isSilent || client.end()));
  }

  #fromClient(pair: Pair, chunk: Buffer): void {
    if (pair.isSilent) return;
    if (pair.hasResponse) this.#roundTrips += 1;
    pair.hasResponse = false;
    const spoilt = this.#faultIn(pair, chunk) ?? this.#faultAfterBytes(chunk);
    if (spoilt) this.#spoil(pair, spoilt.last, spoilt.end);
    else this.#after(this.delayMs, () => pair.server.write(chunk));
  }

  #faultIn(pair: Pair, chunk: Buffer): Spoilt | undefined {
    for (const { text, start } of pair.messages.read(chunk)) {
      this.#statements.push(text);
      const fault = this.#faults.find(({ at }) => at.test(text));
      if (!fault) continue;
      this.#faults = this.#faults.filter((other) => other !== fault);
      if (fault.skip) {
        this.#faults.push({ ...fault, skip: fault.skip - 1 });
        continue;
      }
      fault.onMessage?.();
      return { last: fault.arrives ? chunk : chunk.subarray(0, Math.max(0, start)), end: fault.end };
    }
    return undefined;
  }

  #faultAfterBytes(chunk: Buffer): Spoilt | undefined {
    if (!this.#bytes) return undefined;
    const { left, end } = this.#bytes;
    this.#bytes = left > chunk.length ? { left: left - chunk.length, end } : undefined;
    return this.#bytes ? undefined : { last: chunk.subarray(0, left), end };
  }

  #fromServer(pair: Pair, chunk: Buffer): void {
    if (pair.isSilent) return;
    this.#after(this.delayMs + (this.counts ? countingDelayMs : 0), () => {
      if (pair.isSilent) return;
      pair.hasResponse = true;
      pair.client.write(chunk);
    });
  }

  #spoil(pair: Pair, last: Buffer, end: End): void {
    pair.isSilent = true;
    this.#after(this.delayMs, () => {
      pair.server.write(last);
      if (end === 'silence') return;
      pair.client.destroy();
      pair.server.end();
    });
  }

  #after(ms: number, act: () => void): void {
    if (ms === 0) act();
    else setTimeout(act, ms);
  }
}

function breakOff({ client, server }: Pair): void {
  client.destroy();
  server.destroy();
}
