import { constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Opens the pipes behind stdout and stderr anew, and makes them the streams of the process. Without a pipe, and where
 * there is no /proc (not Linux), Node's own streams stay.
 *
 * Whether a write waits is one flag for all processes that a shell gave a pipe to (`2>&1`, a loop, `&`). Node sets it for
 * all of them, so that writes of the others fail; and any of them can reset it, so that a write of ours would block the
 * whole program, Ctrl-C included, until somebody reads. A pipe that is opened anew has a flag of its own.
 */
export function useOwnPipes(process: NodeJS.Process): void {
  const stdout = openPipe(1);
  // In one pipe, what is written to both keeps its order.
  const stderr = stdout && isSamePipe() ? stdout : openPipe(2);
  if (stdout) Object.defineProperty(process, 'stdout', { value: stdout });
  if (stderr) Object.defineProperty(process, 'stderr', { value: stderr });
}

function openPipe(descriptor: 1 | 2): Socket | undefined {
  try {
    if (!fstatSync(descriptor).isFIFO()) return undefined;
    const own = openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd: own, readable: false, writable: true });
  } catch {
    return undefined;
  }
}

function isSamePipe(): boolean {
  const [out, err] = [fstatSync(1), fstatSync(2)];
  return out.ino === err.ino && out.dev === err.dev;
}
