import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { Random } from '../faults/random.ts';

/** A file with bytes that are not on the disk yet. */
interface Unsynced {
  path: string;
  /** How many of its bytes are on the disk. */
  readonly size: number;
}

/** A database as it was when all of it was on the disk: its file and its WAL. */
type Image = readonly (readonly [path: string, bytes: Buffer | undefined])[];

/** Knows what a power cut may take away: what was written and not synced. */
export class Disk {
  /** By inode. */
  readonly #files = new Map<number, Unsynced>();
  /** By path of the database. */
  readonly #images = new Map<string, Image>();

  /** A file is about to be written. @param keeps whether its bytes stay, and more are added. */
  writes(path: string, keeps: boolean): void {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || this.#files.get(stats.ino)?.path === path) return;
    this.#files.set(stats.ino, { path, size: keeps ? stats.size : 0 });
  }

  /** A file is on the disk as it is, or is about to be removed: another may have its number then. */
  forgets(path: string): void {
    this.#files.delete(statSync(path, { throwIfNoEntry: false })?.ino ?? 0);
  }

  synced(inode: number): void {
    this.#files.delete(inode);
  }

  /** A file has another name. */
  renamed(path: string): void {
    const file = this.#files.get(statSync(path, { throwIfNoEntry: false })?.ino ?? 0);
    if (file) file.path = path;
  }

  /** A transaction is about to be committed that the disk may forget. */
  commitsUnsynced(path: string): void {
    if (this.#images.has(path)) return;
    const files = [path, `${path}-wal`];
    this.#images.set(
      path,
      files.map((file) => [file, existsSync(file) ? readFileSync(file) : undefined]),
    );
  }

  /** All that was committed in a database is on the disk. */
  syncedDatabase(path: string): void {
    this.#images.delete(path);
  }

  /** The power fails: of what was not synced, chance decides what is left. */
  cutPower(random: Random): void {
    for (const [inode, { path, size }] of this.#files) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats?.ino === inode && random.next() < 0.5)
        truncateSync(path, random.integer(Math.min(size, stats.size), stats.size));
    }
    this.#files.clear();
    for (const [path, image] of this.#images) if (random.next() < 0.7) restore(path, image);
    this.#images.clear();
  }
}

/** Puts other files in the place of those that connections may still have open. */
function restore(path: string, image: Image): void {
  for (const [file, bytes] of [...image, [`${path}-shm`, undefined] as const]) {
    rmSync(file, { force: true });
    if (bytes) writeFileSync(file, bytes, { mode: 0o600 });
  }
}
