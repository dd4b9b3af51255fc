import { mkdirSync, rmdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { opens, untilIdle } from '../support/idle.ts';
import { hangsAfterMs } from '../support/limits.ts';
import { begin, errand } from '../support/run.ts';
import { shopping } from '../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

/** Releases a lock. */
type Free = () => void;

/** Locks a state file, as another process would. */
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
  // A lock that is not refreshed counts as left by a dead process.
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
  ...['--max-price', price, '--new', '-o', 'id'],
];
const anOrder = (workspace: Workspace): Promise<unknown> => errand(workspace, order('$5'));

/** A lock, the setup before it is taken, and a command that blocks on it. */
interface Lock {
  readonly name: string;
  readonly before?: (workspace: Workspace) => Promise<unknown>;
  /** State file to lock; without it, the configuration is locked. */
  readonly file?: string;
  readonly sql?: string;
  readonly args: readonly string[];
}

const locks: readonly Lock[] = [
  { name: 'a journal without tables', file: 'journal.db', sql: exclusive, args: order('$5') },
  {
    name: 'a journal',
    before: anOrder,
    file: 'journal.db',
    sql: exclusive,
    args: order('$6'),
  },
  {
    name: 'a journal that lets nobody in',
    before: anOrder,
    file: 'journal.db',
    sql: lettingNobodyIn,
    args: ['order', 'journal', 'list'],
  },
  {
    name: 'a sandbox without tables',
    file: 'sandbox.db',
    sql: exclusive,
    args: ['order', 'list'],
  },
  {
    name: 'a sandbox',
    before: anOrder,
    file: 'sandbox.db',
    sql: exclusive,
    args: order('$6'),
  },
  {
    name: 'a sandbox that lets nobody in',
    before: anOrder,
    file: 'sandbox.db',
    sql: lettingNobodyIn,
    args: ['order', 'list'],
  },
  {
    name: 'a sandbox that is to be emptied',
    before: anOrder,
    file: 'sandbox.db',
    sql: exclusive,
    args: ['sandbox', 'reset', '--yes'],
  },
  {
    name: 'a sandbox whose clock is to be moved',
    before: anOrder,
    file: 'sandbox.db',
    sql: exclusive,
    args: ['sandbox', 'advance', '1h'],
  },
  {
    name: 'events without tables',
    file: 'webhooks.db',
    sql: exclusive,
    args: ['webhook', 'events'],
  },
  { name: 'the configuration', args: ['config', 'set', 'retries', '3'] },
];

/** Concurrent tests each register their own cleanup. */
async function locked(
  { before, file, sql = '' }: Lock,
  onFinished: (clean: () => void) => void,
): Promise<{ workspace: Workspace; free: Free }> {
  const workspace = makeWorkspace();
  onFinished(workspace.remove);
  await before?.(workspace);
  const free = file === undefined ? holdConfiguration(workspace) : hold(workspace, file, sql);
  return { workspace, free };
}

/** Resolves once a command is blocked on its lock; it handles signals by then. */
async function meets(pid: number | undefined, { file }: Lock): Promise<void> {
  if (file === undefined) await untilIdle(pid);
  else await vi.waitUntil(() => opens(pid ?? 0, file), hangsAfterMs);
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
    await meets(child.pid, lock);
    child.kill('SIGINT');
    // The lock is still held: a command that misses the signal gives up with a different code.
    const code = await ended;
    free();
    expect(code, printed).toBe(130);
    expect(printed).not.toContain('unexpectedly');
  });

  test.for(locks)('on $name: the command goes on once it is free', async (lock, { onTestFinished }) => {
    const { workspace, free } = await locked(lock, onTestFinished);
    const child = begin(workspace, 'errand', lock.args);
    let printed = '';
    child.stderr.on('data', (text) => {
      printed += text;
    });
    child.stdout.resume();
    child.stdin.end();
    const ended = new Promise<unknown>((resolve) => child.on('close', resolve));
    await meets(child.pid, lock);
    expect(child.exitCode).toBeNull();
    free();
    expect(await ended, printed).toBe(0);
  });
});

test('where the journal stays locked while the response arrives, the order is reported all the same', async () => {
  const shop = await shopping();
  let free: Free = () => {};
  shop.losses.onMoment = (moment) => {
    if (moment !== 'work-done') return;
    shop.losses.onMoment = () => {};
    free = hold(shop.workspace, 'journal.db', exclusive);
  };
  const made = await errand(shop.workspace, ['order', 'create', '--file', 'order.json', '-o', 'id']);
  free();
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the journal could not record that')]);
  expect((await shop.orders()).map(({ id }) => id)).toEqual([made.stdout.trim()]);
  expect(await shop.order('-o', 'id')).toMatchObject({ code: 0, stdout: made.stdout });
  expect(await shop.orders()).toHaveLength(1);
});
