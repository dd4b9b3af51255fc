import { Duplex } from 'node:stream';
import type { Owner, Planned, World } from './world.ts';

/** One direction of a connection. */
interface Direction {
  readonly chunks: (Buffer | 'end')[];
  isMoving: boolean;
}

type Done = (error?: Error | null) => void;

/** One end of a connection: what `net.Socket` is to Node's HTTP. What is written reaches the other end later. */
export class SimSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly encrypted = false;
  connecting = true;
  /** Idle time after which `timeout` is emitted, ms. */
  timeout = 0;
  #world: World | undefined;
  #owner: Owner | undefined;
  #peer: SimSocket | undefined;
  #idle: Planned | undefined;
  readonly #out: Direction = { chunks: [], isMoving: false };

  constructor() {
    super({ allowHalfOpen: false, emitClose: true, autoDestroy: true });
  }

  /** Connects two ends. @param owner of the first; the second belongs to the service. */
  static pair(world: World, owner: Owner | undefined): readonly [SimSocket, SimSocket] {
    const [client, server] = [new SimSocket(), new SimSocket()];
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.#world = world;
      one.#peer = other;
    }
    client.#owner = owner;
    return [client, server];
  }

  get readyState(): string {
    return this.connecting ? 'opening' : this.destroyed ? 'closed' : 'open';
  }

  get pending(): boolean {
    return this.connecting;
  }

  opened(): void {
    this.connecting = false;
    this.emit('connect');
    this.emit('ready');
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: Done): void {
    this.#send(Buffer.from(chunk));
    done();
  }

  override _final(done: Done): void {
    this.#send('end');
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#idle?.cancel();
    this.connecting = false;
    // What is under way still arrives.
    this.#send('end');
    done(error);
  }

  /** Ends at once; the other end sees a reset. */
  resetAndDestroy(): this {
    this.#out.chunks.length = 0;
    const peer = this.#peer;
    if (peer) this.#world?.plan(1, () => peer.broken(), { owner: peer.#owner });
    return this.destroy();
  }

  /** The connection was reset by the other end, or its process has died. */
  broken(): void {
    if (this.destroyed) return;
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    // Nobody is left to hear of it where the process has ended.
    this.destroy(this.#owner?.isOver || this.listenerCount('error') === 0 ? undefined : reset);
  }

  /** What the system does for a process that has died. */
  abandon(): void {
    const peer = this.#peer;
    this.#world?.plan(1, () => peer?.broken());
    // Node's HTTP gives its parser to the socket, and would keep both for good.
    const parser: unknown = Reflect.get(this, 'parser');
    if (parser instanceof Object && 'close' in parser && typeof parser.close === 'function') parser.close();
    Reflect.set(this, 'parser', null);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    this.timeout = ms;
    if (onTimeout) this.once('timeout', onTimeout);
    this.#touch();
    return this;
  }

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  #touch(): void {
    this.#idle?.cancel();
    this.#idle = undefined;
    if (this.timeout === 0 || this.destroyed) return;
    this.#idle = this.#world?.plan(this.timeout, () => this.emit('timeout'), {
      owner: this.#owner,
      isAwaited: false,
    });
  }

  #send(what: Buffer | 'end'): void {
    this.#out.chunks.push(what);
    this.#touch();
    this.#move();
  }

  /** Brings what was sent to the other end. In how many pieces Node writes it makes no difference. */
  #move(): void {
    const [world, peer, out] = [this.#world, this.#peer, this.#out];
    if (!world || !peer || out.isMoving) return;
    out.isMoving = true;
    const arrive = (): void => {
      out.isMoving = false;
      const pieces = out.chunks.splice(0);
      const bytes = Buffer.concat(pieces.filter((piece) => piece !== 'end'));
      if (peer.destroyed) return;
      peer.#touch();
      if (bytes.length > 0) peer.push(bytes);
      if (pieces.includes('end')) peer.push(null);
    };
    world.plan(world.random.integer(0, 2), arrive, { owner: peer.#owner });
  }
}
