import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { Database } from '../../../../src/platform/sqlite/database.ts';
import { DatabaseError } from '../../../../src/platform/sqlite/database-error.ts';
import { loadSqlite, type Sqlite } from '../../../../src/platform/sqlite/load.ts';
import { openDatabase } from '../../../../src/platform/sqlite/open.ts';

const migrations = ['CREATE TABLE notes (text TEXT NOT NULL) STRICT'];

let folder: string;
let file: string;
let open: (Database | Sqlite)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-sqlite-'));
  file = join(folder, 'notes.db');
  open = [];
});
afterEach(() => {
  for (const one of open) one.close();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(options: Partial<Parameters<typeof openDatabase>[1]> = {}): Promise<Database> {
  const database = await openDatabase(file, { migrations, ...options });
  open.push(database);
  return database;
}

/** Opens another connection, as another process would. */
function other(): Sqlite {
  const Sqlite = loadSqlite();
  const connection = new Sqlite(file);
  open.push(connection);
  return connection;
}

/**
 * A clock whose sleeps return at once, so that the whole wait passes quickly. `during` is called at each, with its
 * number.
 */
function fastClock(during: (sleeps: number) => void = () => {}) {
  let now = 0;
  let sleeps = 0;
  return {
    monotonic: () => now,
    async sleep(ms: number) {
      now += ms;
      sleeps += 1;
      await new Promise((resolve) => setImmediate(resolve));
      during(sleeps);
    },
  };
}

const note = (database: Database, text: string): Promise<unknown> =>
  database.transaction(() => database.run('INSERT INTO notes VALUES (?)', text));
const notes = (database: Database): unknown[] =>
  database.all('SELECT text FROM notes').map(({ text }) => text);

const locks: readonly (readonly [string, (connection: Sqlite) => void])[] = [
  ['a write lock', (connection) => connection.exec('BEGIN IMMEDIATE')],
  ['an exclusive lock', (connection) => connection.exec('BEGIN EXCLUSIVE')],
  [
    'a connection that lets nobody else in',
    (connection) =>
      connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE its (own); COMMIT'),
  ],
];

describe('a wait for a database that another process holds', () => {
  test.each(locks)('by %s, before it has a table: ends with the lock', async (_, take) => {
    const holder = other();
    take(holder);
    const database = await opened({
      waiting: { clock: fastClock((sleeps) => sleeps === 3 && holder.close()) },
    });
    open.splice(open.indexOf(holder), 1);
    await note(database, 'kept');
    expect(notes(database)).toEqual(['kept']);
  });

  test.each(locks)('by %s, before it has a table: gives up in the end', async (_, take) => {
    take(other());
    const failure: unknown = await opened({ waiting: { clock: fastClock() } }).catch((error) => error);
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({
      problem: 'busy',
      message: `${file} cannot be used: it is locked by another process`,
    });
  });

  test.each(locks)('by %s, before it has a table: hears that the user wants to stop', async (_, take) => {
    take(other());
    const stop = new AbortController();
    const reason = new Error('interrupted');
    setTimeout(() => stop.abort(reason), 50);
    await expect(opened({ waiting: { signal: stop.signal } })).rejects.toBe(reason);
  });

  test('a transaction waits, and the event loop turns meanwhile', async () => {
    const database = await opened();
    const holder = other();
    holder.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
      if (turns === 5) holder.exec('COMMIT');
    }, 1);
    await note(database, 'kept');
    clearInterval(turning);
    expect(notes(database)).toEqual(['kept']);
  });

  test('a transaction hears that the user wants to stop, with a moment for a lock that ends by itself', async () => {
    const stop = new AbortController();
    const reason = new Error('interrupted');
    const holder = other();
    const clock = fastClock((sleeps) => sleeps === 1 && holder.exec('COMMIT'));
    const database = await opened({ waiting: { signal: stop.signal, clock } });
    holder.exec('BEGIN IMMEDIATE');
    stop.abort(reason);
    await note(database, 'kept');
    holder.exec('BEGIN IMMEDIATE');
    await expect(note(database, 'not kept')).rejects.toBe(reason);
    expect(notes(database)).toEqual(['kept']);
  });

  test('what needs no wait is done even when the user wants to stop', async () => {
    const database = await opened({ waiting: { signal: AbortSignal.abort(new Error('interrupted')) } });
    await note(database, 'kept');
    expect(notes(database)).toEqual(['kept']);
  });

  test('the patience is measured on a clock that nobody sets', async () => {
    let wall = 0;
    const clock = { ...fastClock(), now: () => (wall -= 3_600_000) };
    const database = await opened({ waiting: { clock } });
    other().exec('BEGIN IMMEDIATE');
    await expect(note(database, 'not kept')).rejects.toMatchObject({ problem: 'busy' });
  });
});

describe('a transaction', () => {
  test('is undone whole where its work throws, and the first error is the one that is reported', async () => {
    const database = await opened();
    const broken = database.transaction(() => {
      database.run("INSERT INTO notes VALUES ('half')");
      // Rolls the transaction back by itself, as a full disk does.
      database.run('INSERT OR ROLLBACK INTO notes VALUES (NULL)');
    });
    await expect(broken).rejects.toThrow('NOT NULL constraint failed');
    expect(notes(database)).toEqual([]);
    await note(database, 'goes on');
    expect(notes(database)).toEqual(['goes on']);
  });

  test('of which another failed leaves none open, so that the next one begins', async () => {
    const database = await opened();
    await expect(
      database.transaction(() => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await note(database, 'kept');
    expect(notes(database)).toEqual(['kept']);
  });

  test('is where all writing is done: outside of one nothing would wait for the lock', async () => {
    const database = await opened();
    expect(() => database.run("INSERT INTO notes VALUES ('loose')")).toThrow('outside of a transaction');
  });
});

test('a migration that fails leaves nothing, and its own error', async () => {
  const failing = [...migrations, 'CREATE TABLE more (x); ROLLBACK; SELECT * FROM nowhere'];
  await expect(opened({ migrations: failing })).rejects.toThrow('no such table: nowhere');
  const database = await opened();
  expect(database.all("SELECT name FROM sqlite_master WHERE name = 'more'")).toEqual([]);
});

test('many that open a new database at once all find its tables, made once', async () => {
  const all = await Promise.all(
    Array.from({ length: 20 }, () => opened({ waiting: { clock: systemClock } })),
  );
  await Promise.all(all.map((database, index) => note(database, String(index))));
  expect(notes(all[0] as Database)).toHaveLength(20);
});
