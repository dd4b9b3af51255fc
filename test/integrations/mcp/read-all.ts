import type { Readable } from 'node:stream';

/** Reads a stream to the end as text. */
export async function readAll(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
