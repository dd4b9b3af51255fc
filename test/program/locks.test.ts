import { mkdirSync, rmdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlite } from '../../src/sqlite/load.ts';
import { begin, errand } from './run.ts';
import { shopping } from './shopping.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

/** Lets go of a lock. */
type Free = () => void;

/** Takes a lock on a file of the state, as another process would. */
function hold(workspace: Workspace, name: string, sql: string): Free {
  const state = join(workspace.folder, '.state');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const Sqlite = loadSqlite();
  const connection = new Sqlite(join(state, name));
  connection.exec(sql);
  return () => connection.close();
}

function holdConfiguration(workspace: Workspace): Free {
  mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
  const lock = join(workspace.folder, '.config.lock');
  mkdirSync(lock);
  // A lock that is not renewed is taken for one that a dead process has left.
  const renewing = setInterval(() => utimesSync(lock, new Date(), new Date()), 1_000);
  return () => {
    clearInterval(renewing);
    rmdirSync(lock);
  };
}

const exclusive = 'BEGIN EXCLUSIVE';
const lettingNobodyIn = 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE its (own); COMMIT';
const order = (price: string): string[] => [
  ...['order', 'create', '--product', 'http://127.0.0.1:4848/shop/test-success', '--ship-to', 'home'],
  ...['--max-price', price, '-o', 'id'],
];
const anOrder = (workspace: Workspace): Promise<unknown> => errand(workspace, order('$5'));

/** Every lock that a command may meet, what was done before it was taken, and a command that meets it. */
const locks: readonly {
  readonly name: string;
  readonly before?: (workspace: Workspace) => Promise<unknown>;
  readonly take: (workspace: Workspace) => Free;
  readonly args: readonly string[];
}[] = [
  { name: 'a journal without tables', take: (at) => hold(at, 'journal.db', exclusive), args: order('$5') },
  {
    name: 'a journal',
    before: anOrder,
    take: (at) => hold(at, 'journal.db', exclusive),
    args: order('$6'),
  },
  {
    name: 'a journal that lets nobody in',
    before: anOrder,
    take: (at) => hold(at, 'journal.db', lettingNobodyIn),
    args: ['order', 'journal', 'list'],
  },
  {
    name: 'a sandbox without tables',
    take: (at) => hold(at, 'sandbox.db', exclusive),
    args: ['order', 'list'],
  },
  {
    name: 'a sandbox',
    before: anOrder,
    take: (at) => hold(at, 'sandbox.db', exclusive),
    args: order('$6'),
  },
  {
    name: 'a sandbox that lets nobody in',
    before: anOrder,
    take: (at) => hold(at, 'sandbox.db', lettingNobodyIn),
    args: ['order', 'list'],
  },
  {
    name: 'a sandbox that is to be emptied',
    before: anOrder,
    take: (at) => hold(at, 'sandbox.db', exclusive),
    args: ['sandbox', 'reset', '--yes'],
  },
  {
    name: 'a sandbox whose clock is to be moved',
    before: anOrder,
    take: (at) => hold(at, 'sandbox.db', exclusive),
    args: ['sandbox', 'advance', '1h'],
  },
  {
    name: 'events without tables',
    take: (at) => hold(at, 'webhooks.db', exclusive),
    args: ['webhook', 'events'],
  },
  { name: 'the configuration', take: holdConfiguration, args: ['config', 'set', 'retries', '3'] },
];

/** Long enough for a command to meet its lock. */
const meetingMs = 1_000;

/** Tests that run at the same time each clean up for themselves. */
async function locked(
  { before, take }: (typeof locks)[number],
  onFinished: (clean: () => void) => void,
): Promise<{ workspace: Workspace; free: Free }> {
  const workspace = makeWorkspace();
  onFinished(workspace.remove);
  await before?.(workspace);
  return { workspace, free: take(workspace) };
}

describe.concurrent('a lock that another process holds', () => {
  test.for(locks)('on $name: Ctrl-C ends the wait', async (lock, { onTestFinished }) => {
    const { workspace, free } = await locked(lock, onTestFinished);
    const child = begin(workspace, 'errand', lock.args);
    let printed = '';
    child.stderr.on('data', (text) => {
      printed += text;
    });
    const ended = new Promise<unknown>((resolve) => child.on('exit', resolve));
    expect(await Promise.race([ended, still(meetingMs)]), printed).toBe('still there');
    child.kill('SIGINT');
    // The lock is not let go before, and would be waited for much longer.
    const code = await Promise.race([ended, still(6_000)]);
    child.kill('SIGKILL');
    free();
    expect(code, printed).toBe(130);
    expect(printed).not.toContain('unexpectedly');
  });

  test.for(locks)('on $name: the command goes on once it is free', async (lock, { onTestFinished }) => {
    const { workspace, free } = await locked(lock, onTestFinished);
    const done = errand(workspace, lock.args);
    await still(meetingMs);
    free();
    expect(await done).toMatchObject({ code: 0 });
  });
});

test('a journal that stays locked while the response arrives is waited for once, and the order is told', {
  timeout: 120_000,
}, async () => {
  const shop = await shopping();
  let free: Free = () => {};
  let lockedAt = 0;
  shop.losses.onMoment = (moment) => {
    if (moment !== 'work-done') return;
    shop.losses.onMoment = () => {};
    free = hold(shop.workspace, 'journal.db', exclusive);
    lockedAt = performance.now();
  };
  const made = await errand(shop.workspace, ['order', 'create', '--file', 'order.json', '-o', 'id'], {
    timeoutMs: 90_000,
  });
  const elapsed = performance.now() - lockedAt;
  free();
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the journal could not record that')]);
  expect((await shop.orders()).map(({ id }) => id)).toEqual([made.stdout.trim()]);
  // Each of two waits of its own takes 15 s.
  expect(elapsed).toBeLessThan(29_000);
  expect(await shop.order('-o', 'id')).toMatchObject({ code: 0, stdout: made.stdout });
  expect(await shop.orders()).toHaveLength(1);
});

const still = (ms: number): Promise<string> =>
  new Promise((resolve) => setTimeout(() => resolve('still there'), ms));
