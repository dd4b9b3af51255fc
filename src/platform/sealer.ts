import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
/** Length of the key of a sealer, in bytes. */
export const sealerKeyBytes = 32;
const [nonceBytes, tagBytes] = [12, 16];

/** Encrypts secrets, so that the stored data does not reveal them. */
export interface Sealer {
  /** @param owner identifies what the secret belongs to. For any other owner, the sealed secret cannot be opened. */
  seal(secret: string, owner: string): string;
  /** Returns the secret. Undefined if it was sealed with another key or for another owner. */
  open(sealed: string, owner: string): string | undefined;
}

/**
 * @param key returns a key of `sealerKeyBytes` bytes. It is called when a secret is sealed or opened for the first
 * time.
 */
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
