const carriageReturn = 13;
const quote = 34;

/**
 * A table from its headings on, with a line feed for each LF, CRLF and CR outside quotes: a file that was appended to may end its
 * rows in several ways, and csv-parse takes a tenth more time where it looks for more than one.
 */
export async function* withLineFeeds(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isQuoted = false;
  for await (const chunk of withWholeEnds(chunks)) {
    yield chunk.includes(carriageReturn) ? rewritten(chunk, isQuoted) : chunk;
    // A quote within a quoted cell is written twice.
    if (countQuotes(chunk) % 2 === 1) isQuoted = !isQuoted;
  }
}

/** The chunks, none of them with half of a CRLF. */
async function* withWholeEnds(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let isHeld = false;
  for await (const { buffer, byteOffset, length } of chunks) {
    const chunk = Buffer.from(buffer, byteOffset, length);
    const whole: Buffer = isHeld ? Buffer.concat([Buffer.of(carriageReturn), chunk]) : chunk;
    isHeld = whole.at(-1) === carriageReturn;
    const given = isHeld ? whole.subarray(0, -1) : whole;
    if (given.length > 0) yield given;
  }
  if (isHeld) yield Buffer.of(carriageReturn);
}

function rewritten(chunk: Buffer, isQuoted: boolean): Buffer {
  // Each byte is one character of Latin-1.
  const parts = chunk.toString('latin1').split('"');
  const plain = isQuoted ? 1 : 0;
  return Buffer.from(
    parts.map((part, at) => (at % 2 === plain ? part.replace(/\r\n?/g, '\n') : part)).join('"'),
    'latin1',
  );
}

function countQuotes(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(quote); at >= 0; at = chunk.indexOf(quote, at + 1)) count += 1;
  return count;
}
