import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { begin } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';

test.each([
  ['SIGINT', 130, 'order journal list'],
  ['SIGTERM', 143, 'order journal list'],
  ['SIGINT', 130, 'order create --product https://shop.example/1 --max-price $50 --ship-to home --yes'],
  ['SIGTERM', 143, 'bulk upload december.csv --share'],
  ['SIGINT', 130, 'doctor'],
] as const)(
  '%s ends at once what waits for a database that does not respond, with %i: %s',
  async (signal, code, line) => {
    const database = createServer((socket) => onTestFinished(() => void socket.destroy()));
    database.listen(0, '127.0.0.1');
    await once(database, 'listening');
    onTestFinished(() => void database.close());
    const { port } = Object(database.address());
    const workspace = makeWorkspace({
      ERRAND_DATABASE_URL: `postgres://errand:pw-4711-pw@127.0.0.1:${port}/team`,
    });
    onTestFinished(workspace.remove);
    writeFileSync(join(workspace.folder, 'december.csv'), 'product_url\n');
    const child = begin(workspace, 'errand', line.split(' '));
    await once(database, 'connection');
    child.kill(signal);
    // Without a signal it would end with 9, after the database timeout.
    expect(await once(child, 'close')).toEqual([code, null]);
  },
);
