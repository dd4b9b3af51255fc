import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { numberIn, textIn } from '../../api/json.ts';
import { makeStateFolder, reasonOf } from '../../config/paths.ts';
import { copyFolder } from '../../format/database-address.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import { PrivateFileError, readPrivateFile } from '../../platform/private-files.ts';
import type { OrderSettings } from '../../run/order-context.ts';

/** Which publisher this machine trusts for a database, and the newest publication that this machine has seen. */
export interface Pin {
  /** Fingerprint of the publisher's key. */
  readonly signer: string;
  /** Identity of the database. */
  readonly database: string;
  /** Number of the newest publication that was seen. */
  readonly number: number;
  /** SHA-256 of the signed text of that publication. */
  readonly policy: string;
}

type PinSettings = Pick<OrderSettings, 'folders' | 'database'>;

/**
 * The file is next to the copy of the database, not inside it. It therefore stays in place if the copy is moved away.
 */
const fileOf = ({ folders, database }: PinSettings): string | undefined =>
  database && `${copyFolder(folders.state, database)}.policy.json`;

/**
 * @throws ErrandError policy if the file cannot be read. This machine may trust a different publisher, so it must not
 * trust a new one.
 */
export function readPin(settings: PinSettings): Pin | undefined {
  const file = fileOf(settings);
  if (file === undefined) return undefined;
  let bytes: Buffer | undefined;
  try {
    bytes = readPrivateFile(file, () => {});
  } catch (cause) {
    throw unusable(cause instanceof PrivateFileError ? cause.message : `${file} cannot be read`, cause);
  }
  const pin = bytes && pinOf(bytes.toString('utf8'));
  if (bytes && !pin) throw unusable(`${file} does not hold what errand writes`);
  return pin;
}

function pinOf(text: string): Pin | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const [signer, database, policy] = ['signer', 'database', 'policy'].map((name) => textIn(value, name));
    const number = numberIn(value, 'number');
    if (signer === undefined || database === undefined || policy === undefined || number === undefined)
      return undefined;
    return { signer, database, number, policy };
  } catch {
    return undefined;
  }
}

/** Replaces the pin, or removes it. @throws StorageError. */
export function writePin(settings: PinSettings, pin: Pin | undefined): void {
  const file = fileOf(settings);
  if (file === undefined) return;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    makeStateFolder(dirname(file), true);
    if (pin) {
      writeFileSync(draft, `${JSON.stringify(pin)}\n`, { flag: 'wx', mode: 0o600 });
      renameSync(draft, file);
    } else rmSync(file, { force: true });
  } catch (cause) {
    rmSync(draft, { force: true });
    if (cause instanceof ErrandError) throw cause;
    throw new StorageError(`${file} cannot be written (${reasonOf(cause)})`, { cause });
  }
}

const unusable = (what: string, cause?: unknown): ErrandError =>
  new ErrandError('policy', `whose published policies this machine trusts is not known: ${what}`, {
    code: 'policy_trust_unreadable',
    outcome: 'not_sent',
    retryable: false,
    hint: 'No order is sent under a published policy until the publisher is trusted anew.',
    next: [{ command: 'errand policy trust', when: 'to see the publisher, and to trust it' }],
    cause,
  });
