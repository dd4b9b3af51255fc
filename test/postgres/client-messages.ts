/** A statement a client sends or re-executes. */
export interface Statement {
  readonly text: string;
  /** Offset of its message in the chunk; negative if it started in an earlier one. */
  readonly start: number;
}

/** Protocol: https://www.postgresql.org/docs/15/protocol-message-formats.html */
const [query, parse, bind] = ['Q', 'P', 'B'];

/** Parses a PostgreSQL client's messages, however they are chunked. */
export class ClientMessages {
  #rest: Buffer = Buffer.alloc(0);
  #hasBegun = false;
  readonly #prepared = new Map<string, string>();

  /** Returns the statements whose messages end in the chunk, in order. */
  read(chunk: Buffer): Statement[] {
    const before = this.#rest.length;
    const bytes = before > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const found: Statement[] = [];
    let at = 0;
    for (;;) {
      // The startup message, and a TLS request before it, have no type byte.
      const letters = this.#hasBegun ? 1 : 0;
      if (bytes.length < at + letters + 4) break;
      const length = bytes.readUInt32BE(at + letters);
      const end = at + letters + length;
      if (bytes.length < end) break;
      const body = bytes.subarray(at + letters + 4, end);
      if (this.#hasBegun) {
        const text = this.#statementOf(String.fromCharCode(bytes[at] ?? 0), body);
        if (text !== undefined) found.push({ text, start: at - before });
      } else if (body.readUInt32BE(0) >> 16 === 3) this.#hasBegun = true;
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return found;
  }

  #statementOf(letter: string, body: Buffer): string | undefined {
    const [first = '', second = ''] = textsOf(body);
    if (letter === query) return first;
    if (letter === parse) this.#prepared.set(first, second);
    // Report a statement when it is executed; it may have been prepared long before.
    return letter === bind ? this.#prepared.get(second) : undefined;
  }
}

/** The first two NUL-terminated strings of a message. */
function textsOf(body: Buffer): string[] {
  const first = body.indexOf(0);
  if (first < 0) return [];
  const second = body.indexOf(0, first + 1);
  return [body.toString('utf8', 0, first), second < 0 ? '' : body.toString('utf8', first + 1, second)];
}
