import { isAscii } from 'node:buffer';

/** Records of a list in the service's own JSON. They can be printed without parsing or reserializing them. */
export interface AsSent {
  readonly json: Uint8Array;
  /** The id of each record. */
  readonly ids: readonly string[];
  /** Byte offsets at which the records start and end, alternating. Between two records there is only a comma. */
  readonly places: readonly number[];
}

/** A range of consecutive records. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  /** The records, one per line; undefined if a record must be reserialized. */
  readonly lines: Uint8Array | undefined;
}

/** Target size of a chunk, in bytes. A chunk ends only where a record ends. */
const chunkSize = 64 * 1024;
const [lineBreak, backslash, del] = [0x0a, 0x5c, 0x7f];

/** Parses a range of records. By default, parses all records. */
export function recordsOf({ json, places }: AsSent, from = 0, to = places.length / 2): unknown[] {
  const records = json.subarray(places[from * 2], places[to * 2 - 1]);
  return JSON.parse(`[${new TextDecoder().decode(records)}]`);
}

/** Yields all records in order, in chunks. */
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

/** Splits records into single records that must be reserialized, and long ranges of records that need not be. */
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
 * Whether these bytes are the only way to write their content as JSON, and contain nothing that a terminal would
 * interpret.
 */
const isPlain = (sent: Uint8Array): boolean =>
  isAscii(sent) && !sent.includes(backslash) && !sent.includes(del);
