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

/** Node's own SQLite where the running Node has it, else the packaged one with the same interface. */
export const loadSqlite = (): typeof Constructor => nodeSqlite() ?? packagedSqlite();

/** Opens a database read-only, as fast as it goes: a TAB waits for it. @throws where it cannot be opened. */
export function openReader(file: string): Sqlite {
  // A FIFO in its place would keep the shell waiting.
  if (!lstatSync(file).isFile()) throw new Error(`${file} is not a file`);
  const Database = loadSqlite();
  return new Database(file, { readOnly: true });
}

/** Asked of the process, which can say since Node 22.3: `node:module` takes half a millisecond to load. */
function nodeSqlite(): typeof Constructor | undefined {
  const { emitWarning } = process;
  // Some versions call it experimental on stderr, which is no business of a user of errand.
  process.emitWarning = () => {};
  try {
    const sqlite = process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined;
    return sqlite?.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

let opened: typeof Constructor | undefined;

/** As `require` opens one, without looking where it lies. */
function openBinary(file: string): typeof Constructor {
  const binary = { exports: {} as SqliteModule };
  process.dlopen(binary, file);
  return binary.exports.DatabaseSync;
}

/** The package's binary; loading the package itself takes 6 ms more, most of them to find that binary. */
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
    // Built on this machine, or laid out another way.
    return createRequire(join(places()[0] ?? '/', 'errand'))(packaged).DatabaseSync;
  }
}

/** Where the package lies: in the nearest `node_modules` that has it, as Node itself looks, which takes it 3 ms. */
function packageFolder(): string {
  for (const place of places())
    for (let above = place; above !== dirname(above); above = dirname(above)) {
      const folder = join(above, 'node_modules', packaged);
      if (existsSync(folder)) return folder;
    }
  throw new Error(`no ${packaged} above ${places().join(' or ')}`);
}

/** Beside this file; a user's bundle may not say where it lies, but Node says which program it runs. */
function places(): string[] {
  const own: string | undefined = import.meta.dirname;
  const [, program] = process.argv;
  return [own, program && dirname(program)].flatMap((place) => place || []);
}
