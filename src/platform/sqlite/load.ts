import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type {
  DatabaseSync as Constructor,
  DatabaseSyncInstance,
  StatementSyncInstance,
} from '@photostructure/sqlite';

export type Sqlite = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

interface SqliteModule {
  readonly DatabaseSync: typeof Constructor;
}

const packaged = '@photostructure/sqlite';

/** Loads Node's own SQLite if it is available, otherwise the packaged one, which has the same interface. */
export const loadSqlite = (): typeof Constructor => nodeSqlite() ?? packagedSqlite();

/**
 * Opens a database read-only and as fast as possible, because shell completion is waiting.
 * @throws if the file cannot be opened.
 */
export function openReader(file: string): Sqlite {
  // A FIFO would block the shell.
  if (!lstatSync(file).isFile()) throw new Error(`${file} is not a file`);
  const Database = loadSqlite();
  return new Database(file, { readOnly: true });
}

/** Use `process.getBuiltinModule` (Node 22.3 and later), because loading `node:module` takes half a millisecond. */
function nodeSqlite(): typeof Constructor | undefined {
  const { emitWarning } = process;
  // Some versions of Node print a warning on stderr that SQLite is experimental. It is of no use to errand's users.
  process.emitWarning = () => {};
  try {
    const sqlite = process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined;
    return sqlite?.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

let opened: typeof Constructor | undefined;

/** Loads a native addon as `require` does, but without resolving its path. */
function openBinary(file: string): typeof Constructor {
  const binary = { exports: {} as SqliteModule };
  process.dlopen(binary, file);
  return binary.exports.DatabaseSync;
}

/** Load the binary of the package directly. Loading the package takes 6 ms more, most of it to find the binary. */
function packagedSqlite(): typeof Constructor {
  if (opened) return opened;
  try {
    const folder = join(packageFolder(), 'prebuilds', `${process.platform}-${process.arch}`);
    const libc = existsSync('/etc/alpine-release') ? '.musl.' : '.glibc.';
    const names = readdirSync(folder);
    const name = names.find((it) => it.includes(libc)) ?? names[0] ?? '';
    opened = openBinary(join(folder, name));
    return opened;
  } catch {
    // Load the whole package. Its binary was built on this machine, or the package has a different layout.
    return createRequire(join(places()[0] ?? '/', 'errand'))(packaged).DatabaseSync;
  }
}

/**
 * Finds the package in the nearest `node_modules`. The result is the same as that of Node's own lookup, which takes 3
 * ms.
 */
function packageFolder(): string {
  for (const place of places())
    for (let above = place; above !== dirname(above); above = dirname(above)) {
      const folder = join(above, 'node_modules', packaged);
      if (existsSync(folder)) return folder;
    }
  throw new Error(`no ${packaged} above ${places().join(' or ')}`);
}

/**
 * Where the search starts: next to this file. If the code is in a user's bundle that does not know its own path, next
 * to the running program.
 */
function places(): string[] {
  const own: string | undefined = import.meta.dirname;
  const [, program] = process.argv;
  return [own, program && dirname(program)].flatMap((place) => place || []);
}
