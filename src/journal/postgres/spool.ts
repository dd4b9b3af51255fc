import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, sha256 } from '../../format/canonical.ts';
import { StorageError } from '../../platform/errors.ts';
import { makePrivateFolder, readPrivateFile, type Tell } from '../../platform/private-files.ts';
import type { StoredGrant } from '../grants.ts';
import type { RefusalReason } from '../intent-ends.ts';
import { removeIfPossible } from '../saved-files.ts';

/** The service has made something of an intent. */
export interface MissedMade {
  readonly kind: 'made';
  readonly madeId: string;
  /** What an order paid by challenge came with: a secret. */
  readonly grant?: StoredGrant | undefined;
  /** The user has been shown it. */
  readonly isReported: boolean;
}

/** Surely nothing came of an attempt: it was refused, or never sent. It ends the record only where that is still as it was. */
export interface MissedEnd extends RefusalReason {
  readonly kind: 'ended';
  /** Of the record that was written for the attempt: its time (ISO 8601) and its owner. */
  readonly since: string;
  readonly pid: number;
  readonly started: string;
}

/** How an attempt ended, which the database does not know yet. */
export type Missed = (MissedMade | MissedEnd) & { readonly key: string; readonly baseUrl: string };

/** What is kept, and the file it is in. */
export interface Kept {
  readonly missed: Missed;
  readonly file: string;
}

const version = 1;

/**
 * What the shared database missed, until a command of this machine reaches it again: a file for each, synced before
 * anybody relies on it, for the owner alone. What is there twice is brought in twice without harm.
 */
export class Spool {
  readonly #folder: string;
  readonly #database: string;
  readonly #tell: Tell;

  /** @param folder of the state. @param database the id of the one that the entries are for. */
  constructor(folder: string, database: string, tell: Tell = () => {}) {
    this.#folder = join(folder, 'spool');
    this.#database = database;
    this.#tell = tell;
  }

  /** Durable when it returns; it takes the place of what was kept of the same. @throws StorageError. */
  keep(missed: Missed): void {
    const entry = { version, database: this.#database, ...missed };
    const text = canonicalJson({ ...entry, checksum: checksumOf(entry) });
    const file = this.#fileOf(missed);
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      makePrivateFolder(this.#folder, this.#tell);
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

  /** What is kept for this database, the first to be brought in first. One that is not what was written is told of, and stays. */
  all(): readonly Kept[] {
    if (!existsSync(this.#folder)) return [];
    const names = readdirSync(this.#folder).filter((name) => namePattern.test(name));
    const kept = names.flatMap((name) => this.#read(join(this.#folder, name)));
    // That something was made counts more than that an attempt failed.
    return kept.toSorted((one, other) => other.missed.kind.localeCompare(one.missed.kind));
  }

  /** The database knows it now. */
  remove({ file }: Kept): void {
    // What cannot be removed is brought in once more, which changes nothing.
    removeIfPossible(file);
  }

  #read(file: string): Kept[] {
    try {
      const bytes = readPrivateFile(file, this.#tell);
      // Another process has brought it in.
      if (bytes === undefined) return [];
      const { checksum, ...entry }: Entry = JSON.parse(bytes.toString('utf8'));
      if (checksum !== checksumOf(entry)) throw new Error('it is not what was written');
      if (entry.version !== version) throw new Error('a newer errand has written it');
      if (entry.database !== this.#database) return [];
      // The checksum vouches for what was written.
      const { version: _, database: _of, ...missed } = entry;
      return [{ missed: missed as unknown as Missed, file }];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#tell(
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

/** A rename is durable once its folder is; some systems open no folder. */
function syncFolder(folder: string): void {
  let opened: number | undefined;
  try {
    opened = openSync(folder, 'r');
    fsyncSync(opened);
  } catch {
    // The file itself is on the disk.
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
