import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { hangsAfterMs } from '../limits.ts';

/**
 * The tests of the project `team` run on PostgreSQL what others run on the embedded store. Its setup keeps some databases
 * ready, each a file of a folder that is named by its address; whoever renames it has the database for itself.
 */
export const isOnPostgres = process.env.STORE === 'postgres';

/** The address of a database that nobody has used; undefined on the embedded store. */
export function takeDatabase(): string | undefined {
  const { READY_DATABASES: ready } = process.env;
  if (!isOnPostgres || ready === undefined) return undefined;
  for (const until = Date.now() + hangsAfterMs; Date.now() < until; ) {
    for (const name of readdirSync(ready).filter((one) => !one.startsWith('taken-')))
      try {
        renameSync(join(ready, name), join(ready, `taken-${name}`));
        return Buffer.from(name, 'base64url').toString();
      } catch {
        // Another test was faster.
      }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  throw new Error('no database is ready');
}
