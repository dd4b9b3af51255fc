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

/** A kept state. */
export interface Snapshot {
  readonly name: string;
  /** By the machine's clock, ms since the epoch. */
  readonly takenAt: number;
}

/** States of a store that are kept by name. Each method that works on the store throws DatabaseError. */
export interface Snapshots {
  /** In the order of their names. */
  list(): Snapshot[];
  /**
   * Keeps the state as it is now, whole or not at all. @param force in place of the one of that name, if any.
   * @returns the sandbox's time then, ms since the epoch; undefined where one of that name is kept already.
   */
  take(name: string, force: boolean): Promise<number | undefined>;
  /**
   * Brings a state back, its time with it, in one transaction: processes that use the store go on with the earlier state.
   * It stays kept. @param finish what belongs to the same transaction.
   */
  restore(name: string, finish: () => void): Promise<void>;
}

/** Letters and digits first: a name never leads out of its folder. */
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const suffix = '.db';
const keptAt = 'snapshot_at_ms';

const folderOf = (file: string): string => join(dirname(file), 'snapshots');
const pathOf = (file: string, name: string): string => join(folderOf(file), `${name}${suffix}`);

export const isSnapshotName = (name: string): boolean => nameForm.test(name);

/** The states of a store in a file, each in a file of its own beside it. */
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
      const kept = await Store.open(draft);
      await kept.transaction(() => kept.setMeta(keptAt, String(at)));
      // Back to one file that can be moved.
      await kept.perform('PRAGMA journal_mode = DELETE');
      await kept.close();
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
      // Nothing is written through a link that has come to stand there.
      copyFileSync(pathOf(store.file, name), draft, constants.COPYFILE_EXCL);
      // Opened once, so that a state kept by an earlier version has today's tables.
      await (await Store.open(draft)).close();
      await store.perform('ATTACH ? AS kept', draft);
      try {
        await replaceAll(
          store,
          (table) => `kept.${table}`,
          () => {
            const at = Number(store.meta(keptAt));
            store.deleteMeta(keptAt);
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
 * Looking for one of that name and putting this one there is one step, so that of several processes one takes it.
 * @returns false where one of that name is there, and stays.
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
    // A file system without links has no such step.
    if (!hasCode(cause, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw cause;
    renameSync(draft, path);
    return true;
  }
}

/** What processes have left half written that ended before they could remove it. */
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

interface Kept extends Snapshot {
  /** Names its tables. */
  readonly number: number;
  /** The sandbox's time, ms since the epoch. */
  readonly at: number;
}

/** States of a store that are kept in the memory of this process, for as long as the store is open. */
export class KeptStates implements Snapshots {
  readonly #store: Store;
  readonly #clock: SandboxClock;
  readonly #kept = new Map<string, Kept>();
  #attaching: Promise<void> | undefined;
  #count = 0;

  constructor(store: Store, clock: SandboxClock) {
    this.#store = store;
    this.#clock = clock;
  }

  list(): Snapshot[] {
    return [...this.#kept.values()]
      .map(({ name, takenAt }) => ({ name, takenAt }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async take(name: string, force: boolean): Promise<number | undefined> {
    if (!force && this.#kept.has(name)) return undefined;
    const store = this.#store;
    this.#attaching ??= store.perform("ATTACH ':memory:' AS kept");
    await this.#attaching;
    this.#count += 1;
    const number = this.#count;
    const before = this.#kept.get(name);
    const at = await store.transaction(() => {
      for (const table of tablesOf(store)) {
        store.run(`CREATE TABLE ${nameOf(table, number)} AS SELECT * FROM main.${table}`);
        if (before) store.run(`DROP TABLE ${nameOf(table, before.number)}`);
      }
      return this.#clock.now();
    });
    this.#kept.set(name, { name, number, at, takenAt: this.#clock.real() });
    return at;
  }

  async restore(name: string, finish: () => void): Promise<void> {
    const kept = this.#kept.get(name);
    if (!kept) throw new Error(`no state ${name} was kept`);
    await replaceAll(
      this.#store,
      (table) => nameOf(table, kept.number),
      () => {
        this.#clock.set(kept.at);
        finish();
      },
    );
  }
}

/** @param table quoted. */
const nameOf = (table: string, number: number): string => `kept."${number} ${table.slice(1)}`;
