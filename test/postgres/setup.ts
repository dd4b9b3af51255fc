import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '../support/postgres.ts';

/** Number of databases to keep ready for tests. */
const mostReady = 12;
const lookEveryMs = 40;

/** Global setup of the project `team`: one server for all of its tests. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  const folder = mkdtempSync(join(tmpdir(), 'errand-databases-'));
  process.env.READY_DATABASES = folder;
  let isOver = false;
  const fill = async (): Promise<void> => {
    while (!isOver) {
      const waiting = readdirSync(folder).filter((name) => !name.startsWith('taken-')).length;
      if (waiting >= mostReady) await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      else {
        const { url } = await server.newDatabase();
        writeFileSync(join(folder, Buffer.from(url).toString('base64url')), '');
      }
    }
  };
  const filling = fill();
  return async () => {
    isOver = true;
    await filling;
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  };
}
