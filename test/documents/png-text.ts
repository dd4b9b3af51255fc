import { crc32 } from 'node:zlib';

const signatureLength = 8;
const keyword = 'Description\0';
/** iTXt fields: uncompressed, no language. */
const plain = '\0\0\0\0';

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  readonly end: number;
}

function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let at = signatureLength; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const end = at + length + 12;
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length), end };
    at = end;
  }
}

/** Embeds a description of the contents in a PNG. */
export function withDescription(png: Buffer, text: string): Buffer {
  const [header] = chunksOf(png);
  if (header?.type !== 'IHDR') throw new Error('this is no PNG');
  const body = Buffer.concat([Buffer.from(`iTXt${keyword}${plain}`, 'latin1'), Buffer.from(text)]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return Buffer.concat([png.subarray(0, header.end), chunk, png.subarray(header.end)]);
}

/** Reads the description embedded in a PNG; undefined if it has none. */
export function describedBy(png: Buffer): string | undefined {
  const begin = Buffer.from(`${keyword}${plain}`, 'latin1');
  const found = [...chunksOf(png)].find(({ type, data }) => type === 'iTXt' && data.indexOf(begin) === 0);
  return found?.data.subarray(begin.length).toString();
}
