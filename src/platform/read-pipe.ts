import { close, constants, open } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { piecesOf } from './streams.ts';

const openFile = promisify(open);
const closeFile = promisify(close);

/** How long until an opening that has not begun to wait is looked at again, ms. */
const pauseMs = 10;

/**
 * What comes through a pipe that has a name (`mkfifo`, or a shell's `<(…)`), once: it cannot be read again.
 * @throws what the signal was aborted with, and NodeJS.ErrnoException for a pipe that cannot be opened.
 */
export async function* readPipe(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const fd = await openNamedPipe(path, signal);
  // A socket waits without a thread, so that it can be given up; it closes the descriptor.
  yield* piecesOf(new Socket({ fd, readable: true, writable: false }), signal);
}

/** Opening waits until somebody writes, in a thread that nothing ends but a writer: so one comes, and goes again. */
async function openNamedPipe(path: string, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  let isWaiting = true;
  const wake = async (): Promise<void> => {
    try {
      await closeFile(await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // Nobody waits at the other end: the opening is about to begin, or over.
      if (isWaiting) setTimeout(wake, pauseMs);
    }
  };
  signal.addEventListener('abort', wake, { once: true });
  try {
    return await openFile(path, constants.O_RDONLY);
  } finally {
    isWaiting = false;
    signal.removeEventListener('abort', wake);
  }
}
