import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readChunks, readPipe } from '../../src/platform/streams.ts';
import { begin, shell } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let pipe: string;
beforeEach(async () => {
  workspace = makeWorkspace();
  pipe = join(workspace.folder, 'pipe');
  await shell(workspace, 'mkfifo pipe');
});
afterEach(() => workspace.remove());

const table =
  'product_url,max_price_cents,name,address,city,zip,phone\nhttps://x.example/1,5000,Ada Byron,1 Main St,Austin,78701,5125550100\n';

test('a table that comes through a pipe can be checked and uploaded, though it is read twice', async () => {
  writeFileSync(join(workspace.folder, 'rows.csv'), table);
  for (const verb of ['validate', 'upload']) {
    const done = await shell(workspace, `errand bulk ${verb} <(cat rows.csv) -o json`);
    expect(done).toMatchObject({ code: 0 });
  }
});

test('Ctrl-C ends a command that waits for the end of a pipe', async () => {
  const child = begin(workspace, 'errand', ['order', 'create', '--file', pipe]);
  const ended = new Promise((resolve) => child.on('close', resolve));
  const writer = await opened(pipe);
  try {
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  } finally {
    closeSync(writer);
  }
});

test('a pipe that nobody writes to can be given up', async () => {
  const controller = new AbortController();
  const reading = readPipe(pipe, controller.signal).next();
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
});

test('stdin that never ends can be given up', async () => {
  const controller = new AbortController();
  const stdin = new PassThrough();
  stdin.write('one');
  const pieces = readChunks(stdin, controller.signal);
  expect(String((await pieces.next()).value)).toBe('one');
  const reading = pieces.next();
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
});

/** Opens the write end once there is a reader. */
async function opened(path: string): Promise<number> {
  const open = (): number | undefined => {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // No reader yet.
      return undefined;
    }
  };
  let writer: number | undefined;
  await expect
    .poll(() => {
      writer = open();
      return writer;
    })
    .toBeDefined();
  if (writer === undefined) throw new Error('nobody reads');
  return writer;
}
