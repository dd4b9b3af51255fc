import { TransportFailure } from './transport/transport.ts';

/** Bytes of a JSON response, decompressed. */
export const longestJson = 64 * 1024 * 1024;
/** Bytes of an error's body that are looked at. */
const longestError = 256 * 1024;
/** How many objects and arrays may stand within each other. */
export const deepestJson = 200;

/** A body whole. @throws TransportFailure where it is longer than `limit` bytes or breaks off. */
export async function readWhole(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.byteLength;
    if (length > limit) {
      throw new TransportFailure('unknown', `the response is larger than ${limit / 1024 / 1024} MB`, {
        isPermanent: true,
      });
    }
    read.push(piece);
  }
  return Buffer.concat(read, length);
}

/** What can be read of an error's body: its beginning, even where the rest never comes. */
export async function readStart(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of body) {
      read.push(piece);
      length += piece.byteLength;
      if (length >= longestError) break;
    }
  } catch (error) {
    // The status has been read and tells enough; the body only explains it.
    if (!(error instanceof TransportFailure)) throw error;
  }
  return Buffer.concat(read, length).subarray(0, longestError);
}

/**
 * Parses JSON of bounded depth, so that whoever walks it cannot run out of stack.
 * @returns undefined for what is not JSON (JSON has no undefined) or too deep.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Not JSON: the caller says whose response it was.
    return undefined;
  }
}

/** Every response is walked through byte by byte, so this is kept to what V8 runs fast. */
function isTooDeep(bytes: Uint8Array): boolean {
  const end = bytes.length;
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    // A quote begins a text; braces and brackets differ in one bit.
    if (byte === 0x22) at = endOfText(bytes, at + 1);
    else if ((byte | 0x20) === 0x7b) {
      depth += 1;
      if (depth > deepestJson) return true;
    } else if ((byte | 0x20) === 0x7d) depth -= 1;
  }
  return false;
}

/** Where the quote stands that ends a text, past what a backslash escapes. */
function endOfText(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  let at = start;
  while (at < end && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1;
  return at;
}
