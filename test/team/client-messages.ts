/** A statement that a client sends, or runs again. */
export interface Statement {
  readonly text: string;
  /** Where its message begins in the chunk; negative where it began in an earlier one. */
  readonly start: number;
}

/** Of the protocol: https://www.postgresql.org/docs/15/protocol-message-formats.html */
const [query, parse, bind] = ['Q', 'P', 'B'];

/** Reads what a client of PostgreSQL sends, whatever pieces it comes in. */
export class ClientMessages {
  #rest: Buffer = Buffer.alloc(0);
  #hasBegun = false;
  readonly #prepared = new Map<string, string>();

  /** The statements whose messages end in the chunk, in their order. */
  read(chunk: Buffer): Statement[] {
    const before = this.#rest.length;
    const bytes = before > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const found: Statement[] = [];
    let at = 0;
    for (;;) {
      // The first message, and a request for TLS before it, has no letter.
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
    // A statement is told when it runs: it may be prepared long before.
    return letter === bind ? this.#prepared.get(second) : undefined;
  }
}

/** The first two texts of a message, each ended by NUL. */
function textsOf(body: Buffer): string[] {
  const first = body.indexOf(0);
  if (first < 0) return [];
  const second = body.indexOf(0, first + 1);
  return [body.toString('utf8', 0, first), second < 0 ? '' : body.toString('utf8', first + 1, second)];
}
