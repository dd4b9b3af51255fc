import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { ClientMessages } from './client-messages.ts';

/** `cut` breaks the connection, `silence` keeps it open and lets nothing through any more, in either direction. */
type End = 'cut' | 'silence';

/** What goes wrong at a message that a client sends. It happens once. */
export interface MessageFault {
  /** In the text of a statement, also of a prepared one that is run again. */
  readonly at: RegExp;
  /** Whether the server gets the message, and what was sent along with it; the response never arrives. */
  readonly arrives: boolean;
  readonly end: End;
  /** How many messages that fit go well before it. */
  readonly skip?: number;
  /** Called before the fault, while the message has not arrived. */
  readonly onMessage?: () => void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly messages: ClientMessages;
  isSilent: boolean;
  /** Whether the client has got something since it last sent something. */
  hasResponse: boolean;
}

/** The last bytes that the server gets, and what comes then. */
interface Spoilt {
  readonly last: Buffer;
  readonly end: End;
}

/** Responses wait for this long, ms, so that what a client sends in one go is counted once. */
const countingDelayMs = 5;

/** A proxy between errand and PostgreSQL that spoils connections as it is told, and counts what they carry. */
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
  /** Waits in each direction, ms, as a network does. */
  delayMs = 0;
  /** Whether responses wait a moment, so that round trips can be counted. */
  counts = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = this.#makeServer();
  }

  /** @param target the port of the server. It is closed by whoever starts it. */
  static async start(target: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    await proxy.accept();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** An address of the server as one of this proxy. */
  url(address: string): string {
    const url = new URL(address);
    url.port = String(this.#port);
    return url.href;
  }

  /** Times that a client waited for a response and then sent more, since the last reset. */
  get roundTrips(): number {
    return this.#roundTrips;
  }

  /** Connections that were made, since the last reset. */
  get connections(): number {
    return this.#connections;
  }

  /** The statements that clients sent, since the last reset. */
  get statements(): readonly string[] {
    return this.#statements;
  }

  reset(): void {
    [this.#roundTrips, this.#connections, this.#statements] = [0, 0, []];
  }

  /** Breaks every connection that is open. */
  cut(): void {
    for (const pair of this.#pairs) breakOff(pair);
  }

  /** Lets nothing through any more on the connections that are open. */
  silence(): void {
    for (const pair of this.#pairs) pair.isSilent = true;
  }

  /** The same for those that are made from now on: a black hole, until it heals. */
  swallow(): void {
    this.#swallows = true;
    this.silence();
  }

  /** Breaks every connection and refuses others until it accepts them again. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Accepts connections, on the port that it had. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server = this.#makeServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** At the next message that fits; those of before are forgotten. */
  faultAt(...faults: readonly MessageFault[]): void {
    this.#faults = [...faults];
  }

  /** Once clients have sent so many bytes more, in the middle of a message perhaps. */
  faultAfter(bytes: number, end: End): void {
    this.#bytes = { left: bytes, end };
  }

  /** Nothing goes wrong any more; what was silent is cut. */
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
      // Of one that is silent, neither side learns that the other has gone.
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
