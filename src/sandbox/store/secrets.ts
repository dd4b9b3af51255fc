import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readKeyFile } from '../../platform/key-file.ts';
import type { Warn } from '../../platform/private-files.ts';
import { DatabaseError, databaseError } from '../../platform/sqlite/database-error.ts';
import { keyFileOf } from './store.ts';

const algorithm = 'aes-256-gcm';
const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];

/** Encrypts secrets, so that the store's file alone does not reveal them. */
export interface Sealer {
  /** @param owner identifies what the secret belongs to. The secret cannot be opened for any other owner. */
  seal(secret: string, owner: string): string;
  /** The secret; undefined if it was sealed with another key or for another owner. */
  open(sealed: string, owner: string): string | undefined;
}

/** Opens the sealer of a store. Creates the key file next to it if there is none. @throws DatabaseError. */
export function sealerOf(storeFile: string, warn: Warn): Sealer {
  const key = storeFile === ':memory:' ? randomBytes(keyBytes) : keyIn(keyFileOf(storeFile), warn);
  return {
    seal(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner));
      const sealed = [cipher.update(secret, 'utf8'), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64');
    },
    open(text, owner) {
      const sealed = Buffer.from(text, 'base64');
      const opener = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes));
      opener.setAAD(Buffer.from(owner));
      opener.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        const parts = [opener.update(sealed.subarray(nonceBytes + tagBytes)), opener.final()];
        return Buffer.concat(parts).toString('utf8');
      } catch {
        // Authentication failed.
        return undefined;
      }
    },
  };
}

function keyIn(file: string, warn: Warn): Buffer {
  try {
    return readKeyFile(file, keyBytes, warn);
  } catch (cause) {
    throw (
      databaseError(file, cause) ??
      new DatabaseError(file, 'damaged', cause instanceof Error ? cause.message : String(cause), { cause })
    );
  }
}
