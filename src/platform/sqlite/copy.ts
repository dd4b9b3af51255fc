import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSqlite, type Sqlite } from './load.ts';

/**
 * Copies a database that cannot be opened where it lies, such as on a read-only file system, where SQLite has no room for
 * what it keeps beside one. The write-ahead log goes with it: what another process committed last is in there.
 * @returns the copy, in a folder of its own that is to be removed; of a file that is not there, a place for an empty one.
 */
export function copyDatabase(file: string): { readonly copy: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'errand-read-'));
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Some systems delete no file that is open; their temporary folder is cleared.
    }
  };
  const copy = join(folder, 'copy.db');
  const reader = pin(file);
  try {
    for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    return { copy, remove };
  } catch (error) {
    remove();
    throw error;
  } finally {
    reader?.close();
  }
}

/** While it reads, no other process moves what is in the log into the file. Where there is no log, none writes. */
function pin(file: string): Sqlite | undefined {
  const Sqlite = loadSqlite();
  let reader: Sqlite | undefined;
  try {
    reader = new Sqlite(file, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_master');
    return reader;
  } catch {
    reader?.close();
    return undefined;
  }
}
