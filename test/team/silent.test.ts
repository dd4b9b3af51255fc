import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { begin } from '../program/run.ts';
import { makeWorkspace } from '../program/workspace.ts';

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s is heard while a database does not respond', async (signal, code) => {
  const database = createServer((socket) => onTestFinished(() => void socket.destroy()));
  database.listen(0, '127.0.0.1');
  await once(database, 'listening');
  onTestFinished(() => void database.close());
  const { port } = Object(database.address());
  const workspace = makeWorkspace({
    ERRAND_DATABASE_URL: `postgres://errand:pw-4711-pw@127.0.0.1:${port}/team`,
  });
  onTestFinished(workspace.remove);
  const child = begin(workspace, 'errand', ['order', 'journal', 'list']);
  await once(database, 'connection');
  child.kill(signal);
  // By itself it would end with 9, once it has waited for the database.
  expect(await once(child, 'close')).toEqual([code, null]);
});
