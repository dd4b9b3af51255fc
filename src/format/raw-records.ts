import { isAscii } from 'node:buffer';

/** The records of a list in the service's own JSON, so that they need be neither parsed nor written anew. */
export interface AsSent {
  readonly json: Uint8Array;
  /** What tells each from the others. */
  readonly ids: readonly string[];
  /** Where each record begins and where it ends, in turn, in bytes. Only a comma stands between two. */
  readonly places: readonly number[];
}

/** Some of the records, one after the other. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** A line for each; undefined where a record must be written anew. */
  readonly lines: Uint8Array | undefined;
}

/** Bytes; a piece is longer by what is left of its last record. */
const pieceSize = 64 * 1024;
const [lineBreak, backslash, del] = [0x0a, 0x5c, 0x7f];

/** Some of the records as values; without more, all of them. */
export function recordsOf({ json, places }: AsSent, from = 0, to = places.length / 2): unknown[] {
  const records = json.subarray(places[from * 2], places[to * 2 - 1]);
  return JSON.parse(`[${new TextDecoder().decode(records)}]`);
}

/** All records in their order. */
export function* piecesOf(sent: AsSent): Generator<Piece> {
  const { places } = sent;
  const all = places.length / 2;
  for (let from = 0; from < all; ) {
    const start = places[from * 2] ?? 0;
    let to = from + 1;
    while (to < all && (places[to * 2 - 1] ?? 0) - start < pieceSize) to += 1;
    yield* parts(sent, from, to);
    from = to;
  }
}

/** The longest parts that need not be written anew, and each record alone that must be. */
function* parts(sent: AsSent, from: number, to: number): Generator<Piece> {
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

/** Whether it holds nothing that JSON may spell in several ways, or that a terminal would obey. */
const isPlain = (sent: Uint8Array): boolean =>
  isAscii(sent) && !sent.includes(backslash) && !sent.includes(del);
