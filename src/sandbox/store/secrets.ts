import { randomBytes } from 'node:crypto';
import { readKeyFile } from '../../platform/key-file.ts';
import type { Warn } from '../../platform/private-files.ts';
import { type Sealer, sealerKeyBytes, sealerWith } from '../../platform/sealer.ts';
import { DatabaseError, databaseError } from '../../platform/sqlite/database-error.ts';
import { keyFileOf } from './store.ts';

/**
 * Opens the sealer that encrypts a store's secrets. If there is no key file next to the store, creates the file.
 * @throws DatabaseError.
 */
export function sealerOf(storeFile: string, warn: Warn): Sealer {
  const key = storeFile === ':memory:' ? randomBytes(sealerKeyBytes) : keyIn(keyFileOf(storeFile), warn);
  return sealerWith(() => key);
}

function keyIn(file: string, warn: Warn): Buffer {
  try {
    return readKeyFile(file, sealerKeyBytes, warn);
  } catch (cause) {
    throw (
      databaseError(file, cause) ??
      new DatabaseError(file, 'damaged', cause instanceof Error ? cause.message : String(cause), { cause })
    );
  }
}
