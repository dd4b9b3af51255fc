import { DatabaseError } from '../../../../src/platform/sqlite/database-error.ts';
import { openDatabase } from '../../../../src/platform/sqlite/open.ts';

/**
 * Writes three notes, one transaction each, until one fails; prints how many succeeded and the error. Ctrl-C aborts its
 * waits.
 */
const [file = ''] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort(new Error('interrupted')));

let kept = 0;
let stopped: unknown;
try {
  const database = await openDatabase(file, {
    migrations: ['CREATE TABLE notes (text TEXT NOT NULL) STRICT'],
    waiting: { signal: stop.signal },
  });
  try {
    for (; kept < 3; kept += 1)
      await database.transaction(() => database.run('INSERT INTO notes VALUES (?)', 'x'.repeat(5_000)));
  } finally {
    database.close();
  }
} catch (error) {
  stopped = error;
}
const trouble = stopped instanceof DatabaseError ? stopped.problem : undefined;
const message = stopped === undefined ? undefined : String(stopped);
process.stdout.write(JSON.stringify({ kept, trouble, message }));
