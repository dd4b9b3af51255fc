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

/** Node's own SQLite if available, else the packaged one with the same interface. */
export const loadSqlite = (): typeof Constructor => nodeSqlite() ?? packagedSqlite();

/**
 * Opens a database read-only, as fast as possible, because shell completion waits for it. @throws if the file cannot be
 * opened.
 */
export function openReader(file: string): Sqlite {
  // A FIFO would block the shell.
  if (!lstatSync(file).isFile()) throw new Error(`${file} is not a file`);
  const Database = loadSqlite();
  return new Database(file, { readOnly: true });
}

/** Uses `process.getBuiltinModule` (Node 22.3 and later), because loading `node:module` takes half a millisecond. */
function nodeSqlite(): typeof Constructor | undefined {
  const { emitWarning } = process;
  // Some versions print an experimental warning to stderr, which is of no use to errand's users.
  process.emitWarning = () => {};
  try {
    const sqlite = process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined;
    return sqlite?.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

let opened: typeof Constructor | undefined;

/** Loads a native addon as `require` does, without resolving its path. */
function openBinary(file: string): typeof Constructor {
  const binary = { exports: {} as SqliteModule };
  process.dlopen(binary, file);
  return binary.exports.DatabaseSync;
}

/** Loads the package's binary directly, because loading the package takes 6 ms more, mostly to find the binary. */
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
    // Load the whole package, because its binary was built on this machine or the package has a different layout.
    return createRequire(join(places()[0] ?? '/', 'errand'))(packaged).DatabaseSync;
  }
}

/** Finds the package in the nearest `node_modules`. Node's own lookup does the same but takes 3 ms. */
function packageFolder(): string {
  for (const place of places())
    for (let above = place; above !== dirname(above); above = dirname(above)) {
      const folder = join(above, 'node_modules', packaged);
      if (existsSync(folder)) return folder;
    }
  throw new Error(`no ${packaged} above ${places().join(' or ')}`);
}

/**
 * Where to start searching: next to this file, or next to the running program if a user's bundle does not know its own
 * path.
 */
function places(): string[] {
  const own: string | undefined = import.meta.dirname;
  const [, program] = process.argv;
  return [own, program && dirname(program)].flatMap((place) => place || []);
}
