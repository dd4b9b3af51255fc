import { isAscii } from 'node:buffer';

/** Records of a list in the service's own JSON, which need not be parsed or reserialized. */
export interface AsSent {
  readonly json: Uint8Array;
  /** Identifies each record. */
  readonly ids: readonly string[];
  /** Alternating start and end offsets of the records, in bytes. Only a comma separates two records. */
  readonly places: readonly number[];
}

/** A range of consecutive records. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  /** One line per record; undefined if a record must be reserialized. */
  readonly lines: Uint8Array | undefined;
}

/** Target size of a chunk, bytes; a chunk extends to the end of its last record. */
const chunkSize = 64 * 1024;
const [lineBreak, backslash, del] = [0x0a, 0x5c, 0x7f];

/** Parses a range of records; all of them by default. */
export function recordsOf({ json, places }: AsSent, from = 0, to = places.length / 2): unknown[] {
  const records = json.subarray(places[from * 2], places[to * 2 - 1]);
  return JSON.parse(`[${new TextDecoder().decode(records)}]`);
}

/** All records, in order. */
export function* chunksOf(sent: AsSent): Generator<Chunk> {
  const { places } = sent;
  const all = places.length / 2;
  for (let from = 0; from < all; ) {
    const start = places[from * 2] ?? 0;
    let to = from + 1;
    while (to < all && (places[to * 2 - 1] ?? 0) - start < chunkSize) to += 1;
    yield* parts(sent, from, to);
    from = to;
  }
}

/** Splits records into the longest ranges that need no reserializing, and single records that do. */
function* parts(sent: AsSent, from: number, to: number): Generator<Chunk> {
  const lines = linesOf(sent, from, to);
  if (lines || to - from === 1) {
    yield { from, to, lines };
    return;
  }
  const middle = Math.floor((from + to) / 2);
  yield* parts(sent, from, middle);
  yield* parts(sent, middle, to);
}

function linesOf({ json, places }: AsSent, from: number, to: number): Uint8Array | undefined {
  const start = places[from * 2] ?? 0;
  const records = json.subarray(start, places[to * 2 - 1]);
  if (!isPlain(records)) return undefined;
  const lines = Buffer.allocUnsafe(records.length + 1);
  lines.set(records);
  for (let record = from; record < to; record += 1) lines[(places[record * 2 + 1] ?? 0) - start] = lineBreak;
  return lines;
}

/**
 * Whether the bytes are the only way to write their content as JSON, and hold nothing that a terminal would interpret.
 */
const isPlain = (sent: Uint8Array): boolean =>
  isAscii(sent) && !sent.includes(backslash) && !sent.includes(del);
