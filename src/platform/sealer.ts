import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
/** Length of a sealer's key, bytes. */
export const sealerKeyBytes = 32;
const [nonceBytes, tagBytes] = [12, 16];

/** Encrypts secrets, so that what is stored does not reveal them. */
export interface Sealer {
  /** @param owner identifies what the secret belongs to. The secret cannot be opened for any other owner. */
  seal(secret: string, owner: string): string;
  /** The secret; undefined if it was sealed with another key or for another owner. */
  open(sealed: string, owner: string): string | undefined;
}

/** @param key of `sealerKeyBytes` bytes; read when a secret is first sealed or opened. */
export function sealerWith(key: () => Buffer): Sealer {
  return {
    seal(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key(), nonce).setAAD(Buffer.from(owner));
      const sealed = [cipher.update(secret, 'utf8'), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64');
    },
    open(text, owner) {
      const sealed = Buffer.from(text, 'base64');
      try {
        const opener = createDecipheriv(algorithm, key(), sealed.subarray(0, nonceBytes));
        opener.setAAD(Buffer.from(owner));
        opener.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
        const parts = [opener.update(sealed.subarray(nonceBytes + tagBytes)), opener.final()];
        return Buffer.concat(parts).toString('utf8');
      } catch {
        // Authentication failed.
        return undefined;
      }
    },
  };
}
