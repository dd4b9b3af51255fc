import { Readable, type Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { isObject } from '../../api/json.ts';
import { once } from '../../platform/async.ts';

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

/** Bytes of one message that is taken. */
const longestLine = 1024 * 1024;

/** What a line that is no message is answered with, as JSON-RPC has it. */
interface LineError {
  readonly code: number;
  readonly message: string;
}

const newline = 0x0a;

/** Bytes as they come, made lines that are messages. What is none is told of, once for each line, and dropped. */
class Lines {
  readonly #taken: (line: Buffer) => void;
  readonly #refused: (error: LineError) => void;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(taken: (line: Buffer) => void, refused: (error: LineError) => void) {
    this.#taken = taken;
    this.#refused = refused;
  }

  push(bytes: Buffer): void {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(newline, from);
      this.#keep(bytes.subarray(from, end === -1 ? undefined : end));
      if (end === -1) return;
      this.end();
      from = end + 1;
    }
  }

  /** The line is over: at its end, or at the end of all. */
  end(): void {
    const [pieces, length] = [this.#pieces, this.#length];
    this.#pieces = [];
    this.#length = 0;
    if (length > longestLine) {
      this.#refused({ code: -32600, message: `the message is longer than ${longestLine} bytes` });
      return;
    }
    const line = Buffer.concat(pieces);
    const text = line.toString();
    if (text.trim() === '') return;
    const error = errorIn(text);
    if (error) this.#refused(error);
    else this.#taken(Buffer.concat([line, Buffer.from('\n')]));
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > longestLine) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }
}

function errorIn(text: string): LineError | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { code: -32700, message: 'the line is not JSON' };
  }
  if (isMessage(message)) return undefined;
  return { code: -32600, message: 'the line is JSON, and no message of JSON-RPC 2.0' };
}

/** A request, a notification, or an answer. */
function isMessage(message: unknown): boolean {
  if (!isObject(message) || message.jsonrpc !== '2.0') return false;
  const { id, method, params, error } = message;
  const hasId = typeof id === 'string' || Number.isInteger(id);
  if (method === undefined) return isObject(error) || (hasId && isObject(message.result));
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return false;
  return hasId || !Object.hasOwn(message, 'id');
}
