import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { checkPrivateFile, makePrivateFile } from '../../platform/private-files.ts';
import { databaseError } from '../../platform/sqlite/database-error.ts';
import type { SandboxClock } from './clock.ts';
import { Store } from './store.ts';
import { replaceAll, tablesOf } from './tables.ts';

/** A saved state. */
export interface Snapshot {
  readonly name: string;
  /** In real time, ms since the epoch. */
  readonly takenAt: number;
}

/** Named snapshots of a store. Methods that access the store throw DatabaseError. */
export interface Snapshots {
  /** Sorted by name. */
  list(): Snapshot[];
  /**
   * Saves the current state atomically. @param force overwrites an existing snapshot of that name.
   * @returns the sandbox time of the snapshot, in ms since the epoch; undefined if the name is taken.
   */
  take(name: string, force: boolean): Promise<number | undefined>;
  /**
   * Restores a snapshot, including its time, in one transaction. Other processes continue with the restored state. The
   * snapshot itself is kept. @param finish runs in the same transaction.
   */
  restore(name: string, finish: () => void): Promise<void>;
}

/** Pattern for snapshot names. A name must start with a letter or digit, so that its path cannot leave the folder. */
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const suffix = '.db';
const snapshotTimeName = 'snapshot_at_ms';

const folderOf = (file: string): string => join(dirname(file), 'snapshots');
const pathOf = (file: string, name: string): string => join(folderOf(file), `${name}${suffix}`);

export const isSnapshotName = (name: string): boolean => nameForm.test(name);

/** Snapshots of a store in a file. Each snapshot has its own file next to the store. */
export class FileSnapshots implements Snapshots {
  readonly #store: Store;
  readonly #clock: SandboxClock;

  constructor(store: Store, clock: SandboxClock) {
    this.#store = store;
    this.#clock = clock;
  }

  list(): Snapshot[] {
    const folder = folderOf(this.#store.file);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((entry) => entry.endsWith(suffix) && isSnapshotName(entry.slice(0, -suffix.length)))
      .toSorted()
      .map((entry) => ({
        name: entry.slice(0, -suffix.length),
        takenAt: statSync(join(folder, entry)).mtimeMs,
      }));
  }

  async take(name: string, force: boolean): Promise<number | undefined> {
    const { file } = this.#store;
    mkdirSync(folderOf(file), { recursive: true, mode: 0o700 });
    removeHalves(folderOf(file));
    const draft = `${pathOf(file, name)}.${process.pid}`;
    try {
      rmSync(draft, { force: true });
      makePrivateFile(draft, () => {});
      await this.#store.perform('VACUUM INTO ?', draft);
      const at = this.#clock.now();
      const snapshot = await Store.open(draft);
      await snapshot.transaction(() => snapshot.setMeta(snapshotTimeName, String(at)));
      // Leave WAL mode, so that a single file can be moved.
      await snapshot.perform('PRAGMA journal_mode = DELETE');
      await snapshot.close();
      return putInPlace(draft, pathOf(file, name), force) ? at : undefined;
    } catch (cause) {
      throw databaseError(draft, cause) ?? cause;
    } finally {
      removeDraft(draft);
    }
  }

  async restore(name: string, finish: () => void): Promise<void> {
    const store = this.#store;
    const draft = `${pathOf(store.file, name)}.${process.pid}`;
    try {
      checkPrivateFile(pathOf(store.file, name), () => {});
      removeDraft(draft);
      // COPYFILE_EXCL prevents writing through a symlink that someone placed there.
      copyFileSync(pathOf(store.file, name), draft, constants.COPYFILE_EXCL);
      // Open the draft once, so that a snapshot from an earlier version is migrated.
      await (await Store.open(draft)).close();
      await store.perform('ATTACH ? AS kept', draft);
      try {
        await replaceAll(
          store,
          (table) => `kept.${table}`,
          () => {
            const at = Number(store.meta(snapshotTimeName));
            store.deleteMeta(snapshotTimeName);
            this.#clock.set(at);
            finish();
          },
        );
      } finally {
        await store.perform('DETACH kept');
      }
    } catch (cause) {
      throw databaseError(draft, cause) ?? cause;
    } finally {
      removeDraft(draft);
    }
  }
}

const removeDraft = (draft: string): void => {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(draft + end, { force: true });
};

/**
 * Checks that the name is free and moves the snapshot into place, in one atomic step. If several processes try, only
 * one succeeds.
 * @returns false if the name is taken. In that case the existing snapshot stays.
 */
function putInPlace(draft: string, path: string, force: boolean): boolean {
  if (force) {
    renameSync(draft, path);
    return true;
  }
  try {
    linkSync(draft, path);
    return true;
  } catch (cause) {
    if (existsSync(path)) return false;
    // Without hard links, a file system cannot do this atomically. In that case, rename the draft.
    if (!hasCode(cause, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw cause;
    renameSync(draft, path);
    return true;
  }
}

/** Removes incomplete files left by processes that crashed. */
function removeHalves(folder: string): void {
  for (const entry of readdirSync(folder)) {
    const pid = /\.db\.(\d{1,10})(?:-journal|-wal|-shm)?$/.exec(entry)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, entry), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return !hasCode(cause, 'ESRCH');
  }
}

const hasCode = (cause: unknown, ...codes: readonly string[]): boolean =>
  cause instanceof Error && codes.includes(String(Reflect.get(cause, 'code')));

interface MemorySnapshot extends Snapshot {
  /** Number in the names of the snapshot's tables. */
  readonly number: number;
  /** Sandbox time of the snapshot, in ms since the epoch. */
  readonly at: number;
}

/** Snapshots in the memory of this process. They exist as long as the store is open. */
export class MemorySnapshots implements Snapshots {
  readonly #store: Store;
  readonly #clock: SandboxClock;
  readonly #snapshots = new Map<string, MemorySnapshot>();
  #attaching: Promise<void> | undefined;
  #count = 0;

  constructor(store: Store, clock: SandboxClock) {
    this.#store = store;
    this.#clock = clock;
  }

  list(): Snapshot[] {
    return [...this.#snapshots.values()]
      .map(({ name, takenAt }) => ({ name, takenAt }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async take(name: string, force: boolean): Promise<number | undefined> {
    if (!force && this.#snapshots.has(name)) return undefined;
    const store = this.#store;
    this.#attaching ??= store.perform("ATTACH ':memory:' AS kept");
    await this.#attaching;
    this.#count += 1;
    const number = this.#count;
    const before = this.#snapshots.get(name);
    const at = await store.transaction(() => {
      for (const table of tablesOf(store)) {
        store.run(`CREATE TABLE ${nameOf(table, number)} AS SELECT * FROM main.${table}`);
        if (before) store.run(`DROP TABLE ${nameOf(table, before.number)}`);
      }
      return this.#clock.now();
    });
    this.#snapshots.set(name, { name, number, at, takenAt: this.#clock.real() });
    return at;
  }

  async restore(name: string, finish: () => void): Promise<void> {
    const snapshot = this.#snapshots.get(name);
    if (!snapshot) throw new Error(`no state ${name} was kept`);
    await replaceAll(
      this.#store,
      (table) => nameOf(table, snapshot.number),
      () => {
        this.#clock.set(snapshot.at);
        finish();
      },
    );
  }
}

/** @param table is a quoted name. */
const nameOf = (table: string, number: number): string => `kept."${number} ${table.slice(1)}`;
