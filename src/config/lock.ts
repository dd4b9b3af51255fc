import { StorageError } from '../platform/errors.ts';
import { retryWhile, type Waiting } from '../platform/wait/retry-while.ts';
import { reasonOf } from './paths.ts';

/** Locks the configuration folder. @returns what unlocks it. @throws StorageError where another process keeps it. */
export async function lock(folder: string, waiting: Waiting): Promise<() => Promise<void>> {
  const { default: lockfile } = await import('proper-lockfile');
  try {
    return await retryWhile(isLocked, () => lockfile.lock(folder, { stale: 10_000 }), {
      ...waiting,
      lock: folder,
    });
  } catch (cause) {
    const { signal } = waiting;
    if (signal?.aborted && cause === signal.reason) throw cause;
    const isHeld = isLocked(cause);
    const why = isHeld ? 'another errand is writing it' : reasonOf(cause);
    throw new StorageError(`the configuration folder ${folder} cannot be locked: ${why}`, {
      cause,
      ...(isHeld && {
        hint: `Wait for it to end. Where none is running, remove ${folder}.lock and try again.`,
      }),
    });
  }
}

const isLocked = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ELOCKED';
