import { Readable, type Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { isObject } from '../../api/json.ts';
import { once } from '../../platform/async.ts';

/** How long, in ms, the server still answers pending requests after the client has closed its input. */
const graceMs = 5_000;
/** The protocol over two streams. Keeps track of pending requests, and reports when a response has been sent. */
export class Wire extends StdioServerTransport {
  readonly closed: Promise<void>;
  readonly #pending = new Set<RequestId>();
  readonly #sent = new Map<RequestId, ((isSent: boolean) => void)[]>();
  readonly #input: Readable;
  #isClosed = false;
  #idle: (() => void) | undefined;
  #end: () => void = () => {};

  constructor(input: Readable, output: Writable) {
    // Many lines may arrive at once. The buffer for them needs no limit, because `Lines` already limits the length of
    // each line.
    const read = new Readable({ read() {} });
    super(read, output, { maxBufferSize: Number.MAX_SAFE_INTEGER });
    this.#input = input;
    const lines = new Lines(
      (line) => void read.push(line),
      (error) => this.#refuse(error),
    );
    input.on('data', (chunk: Buffer | string) => lines.push(Buffer.from(chunk)));
    input.on('end', () => lines.end());
    const end = once(() => this.#answerRest(read));
    for (const event of ['end', 'close', 'error']) input.on(event, () => void end());
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Calls `then` once the response to a request has been sent, or when it can no longer be sent. */
  afterAnswer(id: RequestId, then: (isSent: boolean) => void): void {
    // Keep a list for each id, because a client may use the same request id again.
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
      // Destroy the input, because a client that leaves its pipe open must not keep the process alive.
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

  /** Reports and answers an invalid line. The response has no id, because the line has none. */
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

  /** Answers the pending requests of a client that has already closed its pipe, before closing. */
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

/** Maximum size of a message, in bytes. */
const maxLineBytes = 1024 * 1024;

/** The JSON-RPC error that is returned for an invalid line. */
interface LineError {
  readonly code: number;
  readonly message: string;
}

const newline = 0x0a;

/** Splits incoming bytes into lines. Each line holds one message. Reports each invalid line once and drops it. */
class Lines {
  readonly #taken: (line: Buffer) => void;
  readonly #refused: (error: LineError) => void;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(taken: (line: Buffer) => void, refused: (error: LineError) => void) {
    this.#taken = taken;
    this.#refused = refused;
  }

  push(bytes: Buffer): void {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(newline, from);
      this.#append(bytes.subarray(from, end === -1 ? undefined : end));
      if (end === -1) return;
      this.end();
      from = end + 1;
    }
  }

  /** Ends the current line, at a line break or at the end of input. */
  end(): void {
    const [chunks, length] = [this.#chunks, this.#length];
    this.#chunks = [];
    this.#length = 0;
    if (length > maxLineBytes) {
      this.#refused({ code: -32600, message: `the message is longer than ${maxLineBytes} bytes` });
      return;
    }
    const line = Buffer.concat(chunks);
    const text = line.toString();
    if (text.trim() === '') return;
    const error = errorIn(text);
    if (error) this.#refused(error);
    else this.#taken(Buffer.concat([line, Buffer.from('\n')]));
  }

  #append(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > maxLineBytes) this.#chunks = [];
    else if (chunk.length > 0) this.#chunks.push(chunk);
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

/** Whether a value is a request, a notification or a response. */
function isMessage(message: unknown): boolean {
  if (!isObject(message) || message.jsonrpc !== '2.0') return false;
  const { id, method, params, error } = message;
  const hasId = typeof id === 'string' || Number.isInteger(id);
  if (method === undefined) return isObject(error) || (hasId && isObject(message.result));
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return false;
  return hasId || !Object.hasOwn(message, 'id');
}
