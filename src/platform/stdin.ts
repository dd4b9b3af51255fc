import { UsageError } from './errors.ts';
import { type Io, piecesOf } from './io.ts';

export interface InputLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** All of stdin. @throws UsageError past `limit` bytes. */
export async function readAll(io: Io, limit: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const bytes of piecesOf(io.stdin.stream, signal)) {
    size += bytes.length;
    if (size > limit) throw new UsageError(`stdin is too large: more than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Lines that are not blank. */
export const linesOf = (bytes: Buffer): InputLine[] =>
  bytes
    .toString('utf8')
    .split(/\r?\n/)
    .map((text, index) => ({ text: text.trim(), number: index + 1 }))
    .filter(({ text }) => text !== '');
