import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from './store-error.ts';

/**
 * Sees to it that a database file is there, readable by its owner alone from its first moment, whatever the umask.
 * A link is refused: it could lead anywhere. @throws StoreError, or the file system's error.
 */
export function preparePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    // It is never opened here a second time: closing it again would drop the locks that SQLite holds on it.
    if (lstatSync(file).isSymbolicLink())
      throw new StoreError(file, 'it is a link, and links are not followed');
    chmodSync(file, 0o600);
  }
}
