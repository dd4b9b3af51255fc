import { retryWhile, type Waiting } from '../platform/async.ts';
import { StorageError } from '../platform/errors.ts';
import { reasonOf } from './paths.ts';

/**
 * Locks a file or folder for writing by creating a folder beside it.
 * @param name is the name of the file or folder in messages.
 * @param mayBeMissing locks a path that need not exist. Links in that path are not followed.
 * @returns the unlock function.
 * @throws StorageError if another process holds the lock.
 */
export async function lockPath(
  path: string,
  name: string,
  waiting: Waiting,
  { mayBeMissing = false }: { readonly mayBeMissing?: boolean } = {},
): Promise<() => Promise<void>> {
  const { default: lockfile } = await import('proper-lockfile');
  try {
    return await retryWhile(isLocked, () => lockfile.lock(path, { stale: 10_000, realpath: !mayBeMissing }), {
      ...waiting,
      lock: path,
    });
  } catch (cause) {
    const { signal } = waiting;
    if (signal?.aborted && cause === signal.reason) throw cause;
    const isHeld = isLocked(cause);
    const why = isHeld ? 'another errand is writing it' : reasonOf(cause);
    throw new StorageError(`${name} cannot be locked: ${why}`, {
      cause,
      ...(isHeld && {
        hint: `Wait for it to end. Where none is running, remove ${path}.lock and try again.`,
      }),
    });
  }
}

const isLocked = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ELOCKED';
