import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, sha256 } from '../../format/canonical.ts';
import { StorageError } from '../../platform/errors.ts';
import { makePrivateFolder, readPrivateFile, type Warn } from '../../platform/private-files.ts';
import type { StoredGrant } from '../grants.ts';
import type { RejectionReason } from '../journal-record.ts';
import { removeIfPossible } from '../saved-files.ts';

/** The service acted on an intent. */
export interface MissedMade {
  readonly kind: 'made';
  readonly madeId: string;
  /** Credentials issued with an order that was paid for by challenge. Secret. */
  readonly grant?: StoredGrant | undefined;
  /** Whether the user has seen the result. */
  readonly isReported: boolean;
}

/**
 * An attempt that definitely had no effect, because it was refused or never sent. It closes the record only if the
 * record has not changed.
 */
export interface MissedEnd extends RejectionReason {
  readonly kind: 'ended';
  /** The record's time (ISO 8601) and owner, by which the attempt is identified. */
  readonly since: string;
  readonly pid: number;
  readonly started: string;
}

/** Result of an attempt that the database does not have yet. */
export type Missed = (MissedMade | MissedEnd) & { readonly key: string; readonly baseUrl: string };

/** A stored result, and the file that holds it. */
export interface PendingResult {
  readonly missed: Missed;
  readonly file: string;
}

const version = 1;

/**
 * Results that the shared database has missed. They are stored until a command on this machine reaches the database
 * again. Each result is a private file of its own, and is fsynced before anything relies on it. Importing a result
 * twice is harmless.
 */
export class Spool {
  readonly #folder: string;
  readonly #database: string;
  readonly #warn: Warn;

  /** @param folder is the state folder. @param database is the id of the database that the entries belong to. */
  constructor(folder: string, database: string, warn: Warn = () => {}) {
    this.#folder = join(folder, 'spool');
    this.#database = database;
    this.#warn = warn;
  }

  /**
   * Stores an entry durably before returning. Replaces an earlier entry of the same kind for the same intent.
   * @throws StorageError.
   */
  save(missed: Missed): void {
    const entry = { version, database: this.#database, ...missed };
    const text = canonicalJson({ ...entry, checksum: checksumOf(entry) });
    const file = this.#fileOf(missed);
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      makePrivateFolder(this.#folder, this.#warn);
      const opened = openSync(draft, 'wx', 0o600);
      try {
        writeFileSync(opened, `${text}\n`);
        fsyncSync(opened);
      } finally {
        closeSync(opened);
      }
      renameSync(draft, file);
      syncFolder(this.#folder);
    } catch (cause) {
      removeIfPossible(draft);
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StorageError(`${this.#folder} cannot be written: ${why}`, { cause });
    }
  }

  /**
   * Entries for this database, in the order in which they are to be imported. Warns about an invalid entry, and leaves
   * the file of that entry in place.
   */
  all(): readonly PendingResult[] {
    if (!existsSync(this.#folder)) return [];
    const names = readdirSync(this.#folder).filter((name) => namePattern.test(name));
    const pending = names.flatMap((name) => this.#read(join(this.#folder, name)));
    // Successes come first, because they take precedence over failed attempts.
    return pending.toSorted((one, other) => other.missed.kind.localeCompare(one.missed.kind));
  }

  /** Removes an entry the database now has. */
  remove({ file }: PendingResult): void {
    // A file that cannot be removed is imported again later, which changes nothing.
    removeIfPossible(file);
  }

  #read(file: string): PendingResult[] {
    try {
      const bytes = readPrivateFile(file, this.#warn);
      // Another process has imported the file.
      if (bytes === undefined) return [];
      const { checksum, ...entry }: Entry = JSON.parse(bytes.toString('utf8'));
      if (checksum !== checksumOf(entry)) throw new Error('it is not what was written');
      if (entry.version !== version) throw new Error('a newer errand has written it');
      if (entry.database !== this.#database) return [];
      // The cast is safe, because the checksum has been verified.
      const { version: _, database: _of, ...missed } = entry;
      return [{ missed: missed as unknown as Missed, file }];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#warn(
        `warning: ${file} tells what became of an order and cannot be used (${why}): look at it, then remove it`,
      );
      return [];
    }
  }

  #fileOf({ kind, key, baseUrl }: Missed): string {
    const id = sha256(JSON.stringify([this.#database, baseUrl, key])).slice(0, 32);
    return join(this.#folder, `${id}-${kind}.json`);
  }
}

type Entry = Readonly<Record<string, unknown>>;

const namePattern = /^[0-9a-f]{32}-(?:made|ended)\.json$/;

const checksumOf = (entry: Entry): string => sha256(`spool ${canonicalJson(entry)}`).slice(0, 32);

/** Makes a rename durable by fsyncing the folder of the file. Some systems cannot open a folder. */
function syncFolder(folder: string): void {
  let opened: number | undefined;
  try {
    opened = openSync(folder, 'r');
    fsyncSync(opened);
  } catch {
    // The file itself has been synced already.
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
