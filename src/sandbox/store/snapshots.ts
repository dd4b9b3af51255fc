import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkPrivateFile, makePrivateFile } from '../../private-files.ts';
import { databaseError } from '../../sqlite/database-error.ts';
import type { Waiting } from '../../wait/retry-while.ts';
import { SandboxClock } from './clock.ts';
import { Store } from './store.ts';
import { replaceAll } from './tables.ts';

/** Letters and digits first: a name never leads out of its folder. */
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const suffix = '.db';
const keptAt = 'snapshot_at_ms';

const folderOf = (file: string): string => join(dirname(file), 'snapshots');
const pathOf = (file: string, name: string): string => join(folderOf(file), `${name}${suffix}`);

export const isSnapshotName = (name: string): boolean => nameForm.test(name);
export const hasSnapshot = (file: string, name: string): boolean => existsSync(pathOf(file, name));

/** The snapshots of a store, by name, with when they were taken (ms of the machine's time). */
export function listSnapshots(file: string): { name: string; takenAt: number }[] {
  const folder = folderOf(file);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((entry) => entry.endsWith(suffix) && isSnapshotName(entry.slice(0, -suffix.length)))
    .toSorted()
    .map((entry) => ({
      name: entry.slice(0, -suffix.length),
      takenAt: statSync(join(folder, entry)).mtimeMs,
    }));
}

/** Keeps the state of a store under a name, whole or not at all; others may go on using the store. @throws DatabaseError. */
export async function takeSnapshot(
  file: string,
  name: string,
  now: () => number,
  waiting: Waiting = {},
): Promise<void> {
  mkdirSync(folderOf(file), { recursive: true, mode: 0o700 });
  const draft = `${pathOf(file, name)}.${process.pid}`;
  const store = await Store.open(file, { waiting });
  try {
    rmSync(draft, { force: true });
    makePrivateFile(draft, () => {});
    await store.perform('VACUUM INTO ?', draft);
    const kept = await Store.open(draft);
    const at = String(new SandboxClock(store, now).now());
    await kept.transaction(() => kept.setMeta(keptAt, at));
    // Back to one file that can be moved.
    await kept.perform('PRAGMA journal_mode = DELETE');
    await kept.close();
    renameSync(draft, pathOf(file, name));
  } catch (cause) {
    throw databaseError(draft, cause) ?? cause;
  } finally {
    await store.close();
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true });
  }
}

/**
 * Brings a state back, its time with it, in one transaction: processes that use the store go on with the earlier state.
 * @throws DatabaseError.
 */
export async function restoreSnapshot(
  file: string,
  name: string,
  now: () => number,
  waiting: Waiting = {},
): Promise<void> {
  const draft = `${pathOf(file, name)}.${process.pid}`;
  try {
    checkPrivateFile(pathOf(file, name), () => {});
    copyFileSync(pathOf(file, name), draft);
    // Opened once, so that a state kept by an earlier version has today's tables.
    await (await Store.open(draft)).close();
    const store = await Store.open(file, { waiting });
    try {
      await store.perform('ATTACH ? AS kept', draft);
      await replaceAll(
        store,
        (table) => `kept.${table}`,
        () => {
          const at = Number(store.meta(keptAt));
          store.run('DELETE FROM meta WHERE name = ?', keptAt);
          new SandboxClock(store, now).set(at);
        },
      );
      await store.perform('DETACH kept');
    } finally {
      await store.close();
    }
  } catch (cause) {
    throw databaseError(draft, cause) ?? cause;
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true });
  }
}
