import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../../../src/integrations/sdk/journal.ts';
import { Agent } from '../../../integrations/mcp/agent.ts';
import { begin, type Finished } from '../../../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../../../support/shopping.ts';

const isRoot = process.getuid?.() === 0;
const another = 12_345;

/** Makes the state of an order in doubt unreadable, and undoes it. */
interface Harm {
  do(state: string): void;
  undo(state: string): void;
}

const aside = (path: string): string => `${path}-aside`;

/** Replaces a file or directory. */
const replaced = (name: string, put: (path: string) => void): Harm => ({
  do: (state) => {
    renameSync(join(state, name), aside(join(state, '..', 'kept')));
    put(join(state, name));
  },
  undo: (state) => {
    rmSync(join(state, name), { recursive: true });
    renameSync(aside(join(state, '..', 'kept')), join(state, name));
  },
});

const link = (path: string): void => symlinkSync(aside(join(path, '..', '..', 'kept')), path);
const fifo = (path: string): void => void execFileSync('mkfifo', [path]);

const given = (name: string): Harm => ({
  do: (state) => chownSync(join(state, name), another, another),
  undo: (state) => chownSync(join(state, name), 0, 0),
});

const moded = (name: string, mode: number): Harm => ({
  do: (state) => chmodSync(join(state, name), mode),
  undo: (state) => chmodSync(join(state, name), 0o700),
});

const harms: readonly (readonly [what: string, harm: Harm])[] = [
  ['journal.db was moved and is linked to', replaced('journal.db', link)],
  ['the seal of the journal is a link', replaced('journal.db-seal', link)],
  ['journal.db is a FIFO', replaced('journal.db', fifo)],
  ['journal.db is a folder', replaced('journal.db', (path) => mkdirSync(path))],
  ['the state folder is shared as /tmp is', moded('.', 0o1777)],
  ['a file stands in the place of the state folder', replaced('.', (path) => writeFileSync(path, ''))],
  ...(isRoot
    ? ([
        ['journal.db belongs to another user', given('journal.db')],
        ['the state folder belongs to another user', given('.')],
      ] as const)
    : ([
        ['journal.db may not be read', moded('journal.db', 0o000)],
        ['the state folder may not be entered', moded('.', 0o000)],
      ] as const)),
];

/** An order placed at the service but in doubt on this machine. */
async function inDoubt(): Promise<{ readonly shop: Shopping; readonly state: string }> {
  const shop = await shopping();
  lose(shop, 'reset-after');
  expect((await shop.order()).code).toBe(10);
  return { shop, state: join(shop.workspace.folder, '.state') };
}

/**
 * Acts like a naive script: orders with another state directory if the error says nothing was sent or suggests another
 * directory.
 */
async function followed(shop: Shopping, refused: Finished): Promise<void> {
  const { outcome, hint } = errorOf(refused);
  if (outcome !== 'not_sent' && !String(hint).includes('ERRAND_STATE_DIR')) return;
  const { ERRAND_STATE_DIR: state = '' } = shop.workspace.environment;
  shop.workspace.environment.ERRAND_STATE_DIR = join(shop.workspace.folder, '.elsewhere');
  await shop.order();
  shop.workspace.environment.ERRAND_STATE_DIR = state;
}

const words = {
  outcome: 'unknown',
  hint: expect.stringMatching(/Another folder is no remedy: an earlier command may have ordered/),
};

describe('where the journal cannot be read while an order is in doubt', () => {
  test.each(harms)('as %s, nobody is sent to another folder, and one order comes of it', async (_, harm) => {
    const { shop, state } = await inDoubt();
    harm.do(state);
    const refused = await shop.order('-o', 'json');
    expect(refused.code).toBe(1);
    await followed(shop, refused);
    expect(await shop.orders()).toHaveLength(1);
    expect(errorOf(refused)).toMatchObject(words);
    harm.undo(state);
    expect((await shop.order()).code).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.skipIf(!isRoot).each([
    ['journal.db', ['journal.db', 'journal.db-seal']],
    ['the state folder', ['.']],
  ])('as %s was made by root, for whom the command ran once', async (_, ofRoot) => {
    const { shop, state } = await inDoubt();
    const { folder } = shop.workspace;
    chmodSync(folder, 0o755);
    // An unprivileged user who owns everything except what root created.
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (!lstatSync(join(folder, name)).isSymbolicLink()) chownSync(join(folder, name), another, another);
    for (const name of ofRoot) chownSync(join(state, name), 0, 0);
    const args = ['--reuid', `${another}`, '--regid', `${another}`, '--clear-groups'];
    const order = ['errand', 'order', 'create', '--file', 'order.json', '-o', 'json'];
    const child = begin(shop.workspace, 'setpriv', [...args, ...order]);
    let stderr = '';
    child.stderr.on('data', (piece: Buffer) => {
      stderr += piece.toString();
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    const refused = { code, signal: null, stdout: '', stderr };
    expect(refused.code).toBe(1);
    await followed(shop, refused);
    expect(await shop.orders()).toHaveLength(1);
    expect(errorOf(refused)).toMatchObject(words);
  });

  test('every command that may move money, or tells of it, says so', async () => {
    const { shop, state } = await inDoubt();
    writeFileSync(join(shop.workspace.folder, 'a.csv'), 'url,max_price\nhttps://shop.example/1,5.00\n');
    replaced('journal.db', link).do(state);
    const lines = [
      ['bulk', 'upload', 'a.csv'],
      ['order', 'cancel', '160db333-e7ed-4c81-af93-4a6cb604a876'],
      ['order', 'journal', 'resume', '--all'],
      ['return', 'create', '--order', '160db333-e7ed-4c81-af93-4a6cb604a876', '--reason', 'other'],
      ['approval', 'list'],
      ['audit', 'log'],
      ['webhook', 'events'],
    ];
    for (const line of lines) {
      const refused = await shop.run(...line, '-o', 'json');
      expect([line, refused.code]).toEqual([line, 1]);
      expect(errorOf(refused)).toMatchObject(words);
    }
  });

  test('an agent reads the same, and is not sent to another folder', async () => {
    const { shop, state } = await inDoubt();
    const agent = await Agent.start(shop.workspace);
    await agent.client.listTools();
    replaced('journal.db', link).do(state);
    const refused = await agent.refused('order_place', { quote: 'Q' });
    expect(refused).toMatchObject(words);
  });

  test('a program reads the same from the library', async () => {
    const { state } = await inDoubt();
    const opened = (): Promise<unknown> =>
      openJournal({ folder: state }).then(
        (journal) => journal.close(),
        (error: unknown) => error,
      );
    const linked = replaced('journal.db', link);
    linked.do(state);
    expect(await opened()).toMatchObject({ name: 'StorageError', facts: words });
    linked.undo(state);
    chmodSync(state, 0o1777);
    expect(await opened()).toMatchObject({ name: 'StorageError', facts: words });
  });
});

test('another configuration folder is no remedy either: the policy and the shared journal are named in this one', async () => {
  const { shop } = await inDoubt();
  const file = join(shop.workspace.folder, '.config', 'config.json');
  renameSync(file, aside(file));
  symlinkSync(aside(file), file);
  const refused = await shop.order('-o', 'json');
  expect(errorOf(refused)).toMatchObject({
    outcome: 'unknown',
    hint: expect.stringContaining('does not have the policy and the database'),
  });
  expect(refused.stderr).not.toContain('ERRAND_');
});

test('a state folder that cannot be made, and of which nothing is known, is left only if nothing was ordered with it', async () => {
  const shop = await shopping();
  shop.workspace.environment.ERRAND_STATE_DIR = '/dev/null/state';
  const refused = await shop.order('-o', 'json');
  expect(errorOf(refused)).toMatchObject({
    outcome: 'unknown',
    hint: expect.stringMatching(
      /Name another with ERRAND_STATE_DIR only if nothing was ever ordered with this one\.$/,
    ),
  });
});
