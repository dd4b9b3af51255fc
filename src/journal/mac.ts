import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { canonicalJson } from '../format/canonical.ts';
import { StorageError } from '../platform/errors.ts';
import { readKeyFile } from '../platform/key-file.ts';
import { type Sealer, sealerKeyBytes, sealerWith } from '../platform/sealer.ts';

/**
 * Message authentication code of a text, in hex, under a key that is not in the journal. Whoever can write to the journal
 * cannot make one. A closure, so that the key is never printed or stored.
 */
export type Mac = (text: string) => string;

/** Derives the code's key from an API key (HKDF, SHA-256), which it does not reveal. */
export const macUnder = (apiKey: string): Mac => macWith(() => apiKey);

/**
 * Derives the code's key from this machine's own, for records that no API key belongs to. Makes that key when it is
 * first needed. The code throws StorageError if it cannot be read.
 */
export const machineMac = (stateFolder: string): Mac => macWith(() => machineKey(stateFolder));

const sealedMark = 'sealed ';

/** Encrypts what only this machine has to read again, so that the journal does not reveal it. */
export class MachineSealer {
  readonly #sealer: Sealer;

  constructor(stateFolder: string) {
    this.#sealer = sealerWith(() => machineKey(stateFolder));
  }

  /** @throws StorageError if this machine's key cannot be used. */
  seal = (secret: string, owner: string): string => `${sealedMark}${this.#sealer.seal(secret, owner)}`;

  /** A secret, or what an earlier version stored in clear; undefined if another machine has sealed it. */
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

/** Code of fields. @param what names the kind of record, so that one kind is never taken for another. */
export const macOf = (mac: Mac, what: MacSubject, fields: Fields): string =>
  mac(canonicalJson([what, fields]));

/** Whether a stored code is that of the fields. */
export const isMacOf = (stored: unknown, mac: Mac, what: MacSubject, fields: Fields): boolean =>
  typeof stored === 'string' && isMacOfText(stored, mac, what, canonicalJson(fields));

/** Same for fields that are canonical JSON already. */
export function isMacOfText(stored: unknown, mac: Mac, what: MacSubject, fields: string): boolean {
  if (typeof stored !== 'string') return false;
  const [one, other] = [Buffer.from(stored), Buffer.from(mac(`["${what}",${fields}]`))];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** What a code may stand under. */
type MacSubject = 'audit entry' | 'quote' | 'job' | 'chunk' | 'result' | 'reservations';
