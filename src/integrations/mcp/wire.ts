import { Readable, type Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { once } from '../../platform/wait/once.ts';
import { type LineError, Lines } from './lines.ts';

/** After the client has closed its end, requests that came before are still answered for so long, ms. */
const graceMs = 5_000;
/** The protocol over two streams. It knows which requests are not answered yet, and tells when an answer is out. */
export class Wire extends StdioServerTransport {
  readonly closed: Promise<void>;
  readonly #pending = new Set<RequestId>();
  readonly #sent = new Map<RequestId, ((isSent: boolean) => void)[]>();
  readonly #input: Readable;
  #isClosed = false;
  #idle: (() => void) | undefined;
  #end: () => void = () => {};

  constructor(input: Readable, output: Writable) {
    // The lines are bounded before they come here; many of them may come at once.
    const read = new Readable({ read() {} });
    super(read, output, { maxBufferSize: Number.MAX_SAFE_INTEGER });
    this.#input = input;
    const lines = new Lines(
      (line) => void read.push(line),
      (error) => this.#refuse(error),
    );
    input.on('data', (piece: Buffer | string) => lines.push(Buffer.from(piece)));
    input.on('end', () => lines.end());
    const end = once(() => this.#answerRest(read));
    for (const event of ['end', 'close', 'error']) input.on(event, () => void end());
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Calls `then` once the answer to a request is out, or will never be. */
  afterAnswer(id: RequestId, then: (isSent: boolean) => void): void {
    // A client may give two requests one id.
    const others = this.#sent.get(id);
    if (this.#isClosed) then(false);
    else if (others) others.push(then);
    else this.#sent.set(id, [then]);
  }

  override async start(): Promise<void> {
    const deliver = this.onmessage;
    this.onmessage = (message) => {
      if ('method' in message && 'id' in message) this.#pending.add(message.id);
      if ('method' in message && message.method === 'notifications/cancelled')
        this.#settle(message.params?.requestId, false);
      deliver?.(message);
    };
    const close = this.onclose;
    this.onclose = () => {
      this.#isClosed = true;
      // A client that has not closed its end must not keep the process.
      this.#input.destroy();
      for (const id of [...this.#sent.keys()]) this.#settle(id, false);
      close?.();
      this.#end();
    };
    await super.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    let isSent = false;
    try {
      await super.send(message);
      isSent = true;
    } finally {
      if (!('method' in message)) this.#settle(message.id, isSent);
    }
  }

  /** A line that is no message has no request's id. */
  #refuse(error: LineError): void {
    this.onerror?.(new Error(error.message));
    super.send({ jsonrpc: '2.0', error: { ...error } }).catch((failure: Error) => this.onerror?.(failure));
  }

  #settle(id: unknown, isSent: boolean): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    this.#pending.delete(id);
    const waiting = this.#sent.get(id) ?? [];
    this.#sent.delete(id);
    for (const then of waiting) then(isSent);
    if (this.#pending.size === 0) this.#idle?.();
  }

  /** Whoever pipes requests in and closes the pipe is owed the answers. */
  async #answerRest(read: Readable): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#pending.size > 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    read.push(null);
  }
}
