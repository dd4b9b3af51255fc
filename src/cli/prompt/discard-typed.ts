import type { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';

/** A terminal that was quiet for this long has delivered everything that was typed, ms. */
const quietMs = 30;
const controlC = '\u0003';

/**
 * Discards what was typed before a question appears, so that it cannot answer it.
 * @returns whether Ctrl-C was among it: in raw mode a terminal delivers it as a character.
 */
export async function discardTyped(stdin: Readable, signal: AbortSignal): Promise<boolean> {
  if (!(stdin instanceof ReadStream) || signal.aborted) return false;
  let interrupted = false;
  const wasRaw = stdin.isRaw;
  // Text without an Enter can be read in raw mode only.
  stdin.setRawMode(true);
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stdin.off('data', discard);
      stdin.off('end', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const discard = (typed: Buffer | string): void => {
      interrupted = typed.includes(controlC);
      if (interrupted) end();
      else timer.refresh();
    };
    const timer = setTimeout(end, quietMs);
    stdin.on('data', discard);
    stdin.once('end', end);
    signal.addEventListener('abort', end, { once: true });
  });
  stdin.pause();
  stdin.setRawMode(wasRaw);
  return interrupted;
}
