import { createReadStream, statSync } from 'node:fs';
import { ErrandError, UsageError } from '../platform/errors.ts';
import { readChunks, readPipe } from '../platform/streams.ts';
import type { Context } from '../run/context.ts';

/** Maximum line length, in bytes. */
const maxLineBytes = 1024 * 1024;

/**
 * Streams the lines of a file, or of stdin for `-`. The text is UTF-8, or UTF-16 with a byte order mark, which Windows
 * shells write. Lines end in LF or CRLF.
 * @throws UsageError naming the flag and the file, or the overlong line.
 */
export async function* readFileLines(context: Context, flag: string, path: string): AsyncGenerator<string> {
  let decoder: ReturnType<typeof decoderOf> | undefined;
  let rest = '';
  let number = 0;
  try {
    for await (const chunk of chunksIn(context, path)) {
      decoder ??= decoderOf(chunk);
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      number += lines.length;
      if (rest.length > maxLineBytes)
        throw new UsageError(`${flag}: line ${number + 1} of ${path} is longer than ${maxLineBytes} bytes`);
      for (const line of lines) yield withoutReturn(line);
    }
  } catch (error) {
    if (error instanceof ErrandError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${flag}: ${path} cannot be read (${why})`, { cause: error });
  }
  const last = withoutReturn(rest + (decoder?.decode() ?? ''));
  if (last !== '') yield last;
}

const decoderOf = ([first, second]: Uint8Array) =>
  new TextDecoder(first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-8', { fatal: true });

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

function chunksIn({ io, signal }: Context, path: string): AsyncIterable<Uint8Array> {
  if (path === '-') return readChunks(io.stdin.stream, signal);
  const stat = statSync(path);
  if (stat.isDirectory()) throw new Error('it is a folder');
  return stat.isFIFO() ? readPipe(path, signal) : readChunks(createReadStream(path), signal);
}
