import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { canonicalJson } from '../format/canonical.ts';
import { StorageError } from '../platform/errors.ts';
import { readKeyFile } from '../platform/key-file.ts';
import { type Sealer, sealerKeyBytes, sealerWith } from '../platform/sealer.ts';

/**
 * Computes the message authentication code of a text, in hex. The key is not in the journal, so whoever can write to
 * the journal cannot compute a code. This is a closure, so that the key is never printed or stored.
 */
export type Mac = (text: string) => string;

/** Returns a Mac whose key is derived from an API key (HKDF, SHA-256). The codes do not reveal the API key. */
export const macUnder = (apiKey: string): Mac => macWith(() => apiKey);

/**
 * Returns a Mac whose key is derived from this machine's own key. Used for records that belong to no API key. The first
 * call of the Mac creates the machine key if there is none. The call throws StorageError if the machine key cannot be
 * used.
 */
export const machineMac = (stateFolder: string): Mac => macWith(() => machineKey(stateFolder));

const sealedMark = 'sealed ';

/** Encrypts secrets that only this machine has to read again, so that the journal does not reveal them. */
export class MachineSealer {
  readonly #sealer: Sealer;

  constructor(stateFolder: string) {
    this.#sealer = sealerWith(() => machineKey(stateFolder));
  }

  /** @throws StorageError if this machine's key cannot be used. */
  seal = (secret: string, owner: string): string => `${sealedMark}${this.#sealer.seal(secret, owner)}`;

  /**
   * Decrypts a secret. Text that an earlier version stored unencrypted is returned as it is. Undefined if another
   * machine encrypted the secret.
   */
  open(stored: string, owner: string): string | undefined {
    return stored.startsWith(sealedMark) ? this.#sealer.open(stored.slice(sealedMark.length), owner) : stored;
  }
}

function macWith(secret: () => string | Buffer): Mac {
  let derived: Uint8Array | undefined;
  return (text) => {
    derived ??= new Uint8Array(hkdfSync('sha256', secret(), '', 'errand journal 1', 32));
    return createHmac('sha256', derived).update(text).digest('hex');
  };
}

function machineKey(stateFolder: string): Buffer {
  const file = join(stateFolder, 'machine-key');
  try {
    return readKeyFile(file, sealerKeyBytes, () => {});
  } catch (error) {
    throw new StorageError(
      `${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Code over fields.
 * @param what names the kind of record, so that a code for one kind is invalid for any other kind.
 */
export const macOf = (mac: Mac, what: MacSubject, fields: Fields): string =>
  mac(canonicalJson([what, fields]));

/** Whether a stored code is valid for the fields. */
export const isMacOf = (stored: unknown, mac: Mac, what: MacSubject, fields: Fields): boolean =>
  typeof stored === 'string' && isMacOfText(stored, mac, what, canonicalJson(fields));

/** Same as `isMacOf`, for fields given as canonical JSON. */
export function isMacOfText(stored: unknown, mac: Mac, what: MacSubject, fields: string): boolean {
  if (typeof stored !== 'string') return false;
  const [one, other] = [Buffer.from(stored), Buffer.from(mac(`["${what}",${fields}]`))];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Kinds of records that have a code. */
type MacSubject = 'audit entry' | 'quote' | 'job' | 'chunk' | 'result' | 'reservations';
