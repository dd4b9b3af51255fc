import type { StreamResult } from '../../format/result.ts';
import { safeLines } from '../../platform/redact/safe-text.ts';
import type { OutputStream } from '../../platform/streams.ts';
import type { Writer } from './writer.ts';

type Chunks = StreamResult['chunks'];

/** Streams chunks unchanged to a file or pipe; on a TTY, makes control characters visible. */
export async function printStream(
  { chunks, isPainted = false }: StreamResult,
  stdout: OutputStream,
  out: Writer,
): Promise<void> {
  try {
    for await (const chunk of stdout.isTerminal && !isPainted ? visible(chunks) : chunks) {
      await (typeof chunk === 'string' ? out.write(chunk) : out.writeBytes(chunk));
      if (out.isClosed) return;
    }
  } finally {
    await out.flush();
  }
}

async function* visible(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of chunks) {
    const text = held + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    // Hold back a trailing carriage return, because it may be half of a CRLF.
    held = text.endsWith('\r') ? '\r' : '';
    yield safeLines(held === '' ? text : text.slice(0, -1));
  }
  yield safeLines(held + decoder.decode());
}
