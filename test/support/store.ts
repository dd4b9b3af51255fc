import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { hangsAfterMs } from './limits.ts';

/**
 * The project `team` runs on PostgreSQL the tests that others run on the embedded store. Its setup keeps databases
 * ready, each as a file in a directory, named after its URL; whoever renames the file owns the database.
 */
export const isOnPostgres = process.env.STORE === 'postgres';

/** Claims an unused database and returns its URL; undefined on the embedded store. */
export function takeDatabase(): string | undefined {
  const { READY_DATABASES: ready } = process.env;
  if (!isOnPostgres || ready === undefined) return undefined;
  for (const until = Date.now() + hangsAfterMs; Date.now() < until; ) {
    for (const name of readdirSync(ready).filter((one) => !one.startsWith('taken-')))
      try {
        renameSync(join(ready, name), join(ready, `taken-${name}`));
        return Buffer.from(name, 'base64url').toString();
      } catch {
        // Another test claimed it first.
      }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  throw new Error('no database is ready');
}
