import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { readPrivateFile, type Tell } from '../../platform/private-files.ts';
import { DatabaseError, databaseError } from '../../platform/sqlite/database-error.ts';
import { keyFileOf } from './store.ts';

const algorithm = 'aes-256-gcm';
const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];

/** Keeps secrets so that the store's file alone does not reveal them. */
export interface Sealer {
  /** @param owner what the secret belongs to; it opens there and nowhere else. */
  seal(secret: string, owner: string): string;
  /** The secret; undefined where it was sealed with another key, or for another owner. */
  open(sealed: string, owner: string): string | undefined;
}

/** The sealer of a store, with the key that stands beside it; made where there is none. @throws DatabaseError. */
export function sealerOf(storeFile: string, tell: Tell): Sealer {
  const key = storeFile === ':memory:' ? randomBytes(keyBytes) : keyIn(keyFileOf(storeFile), tell);
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
        // What does not authenticate is not ours to read.
        return undefined;
      }
    },
  };
}

function keyIn(file: string, tell: Tell): Buffer {
  try {
    const key = readPrivateFile(file, tell) ?? makeKey(file, tell);
    if (key.length !== keyBytes) throw new Error(`it is not a key of ${keyBytes} bytes`);
    return key;
  } catch (cause) {
    throw (
      databaseError(file, cause) ??
      new DatabaseError(file, 'damaged', cause instanceof Error ? cause.message : String(cause), { cause })
    );
  }
}

/** Whole from its first moment under its name: of several processes one makes the key and the others read it. */
function makeKey(file: string, tell: Tell): Buffer {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const opened = openSync(draft, 'wx', 0o600);
  try {
    writeSync(opened, randomBytes(keyBytes));
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const key = readPrivateFile(file, tell);
  if (!key) throw new Error('it is gone again');
  return key;
}
