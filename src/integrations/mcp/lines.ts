import { isObject } from '../../api/json.ts';

/** Bytes of one message that is taken. */
const longestLine = 1024 * 1024;

/** What a line that is no message is answered with, as JSON-RPC has it. */
export interface LineError {
  readonly code: number;
  readonly message: string;
}

const newline = 0x0a;

/** Bytes as they come, made lines that are messages. What is none is told of, once for each line, and dropped. */
export class Lines {
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
