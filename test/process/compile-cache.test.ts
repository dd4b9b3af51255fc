import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { shell, spawned } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const isRoot = process.getuid?.() === 0;
let workspace: Workspace;
let folder: string;

beforeEach(() => {
  const made = makeWorkspace({ XDG_CACHE_HOME: '' });
  workspace = made;
  folder = join(made.folder, '.cache/errand');
  onTestFinished(() => made.remove());
});

const withMore = (environment: Record<string, string>): Workspace => ({
  ...workspace,
  environment: { ...workspace.environment, ...environment },
});

async function wallet(environment: Record<string, string> = {}): Promise<void> {
  const { code, stdout } = await spawned(withMore(environment), ['wallet', '-o', 'json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { balance: expect.any(Number) }]);
}

/** A Node option, added to those used for every start in a test. */
const nodeOption = (option: string) => ({ NODE_OPTIONS: `${workspace.environment.NODE_OPTIONS} ${option}` });

const kept = (at = folder): string[] =>
  existsSync(at)
    ? readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'))
    : [];

const elsewhere = () => join(workspace.folder, 'elsewhere');

const foreign: readonly (readonly [why: string, make: (at: string) => void])[] = [
  ['others can write there', (at) => chmodSync(at, 0o777)],
  [
    'it is a link',
    (at) => {
      rmSync(at, { recursive: true });
      symlinkSync(elsewhere(), at);
    },
  ],
  ...(isRoot ? [['it is of another user', (at: string) => chownSync(at, 65_534, 65_534)] as const] : []),
];

test('no file that may be kept imports late: kept code cannot on Node 20', () => {
  const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
  const files = readdirSync(dist).filter((name) => /-[\w-]{8}\.cjs$/.test(name));
  expect(files.length).toBeGreaterThan(50);
  const late = files.filter((name) => /(?<![\w$.])import\(/.test(readFileSync(join(dist, name), 'utf8')));
  expect(late).toEqual([]);
});

test('what loads next to nothing makes no folder for it', async () => {
  for (const words of [['--version'], ['--help'], ['__complete', '--', 'order', '']])
    expect((await spawned(workspace, words)).code).toBe(0);
  expect(existsSync(join(workspace.folder, '.cache'))).toBe(false);
});

/** Cache files of a start that does not first create a key and an address, unlike the very first one. */
async function keptByOne(): Promise<string[]> {
  await wallet();
  rmSync(folder, { recursive: true });
  await wallet();
  return kept().toSorted();
}

describe('compiled code is kept', () => {
  const times = () => kept().map((name) => statSync(join(folder, name)).mtimeMs);

  test('in a folder of its owner alone, and the next start writes none of it anew', async () => {
    await wallet();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const before = times();
    expect(before.length).toBeGreaterThan(3);
    await wallet();
    expect(times()).toEqual(before);
  });

  test('whole, and nothing beside it, where many start at the same time', async () => {
    const alone = await keptByOne();
    rmSync(folder, { recursive: true });
    await Promise.all(Array.from({ length: 6 }, () => wallet()));
    expect(kept().toSorted()).toEqual(alone);
    await wallet();
  });

  test.each<[what: string, spoil: (file: string) => void]>([
    ['empty', (file) => truncateSync(file)],
    ['cut short', (file) => truncateSync(file, statSync(file).size - 100)],
    ['something else', (file) => writeFileSync(file, 'something else')],
    [
      'of another version of V8',
      (file) => {
        const code = readFileSync(file);
        for (const half of [0, code.length / 2]) code.writeUInt32LE(1, half + 4);
        writeFileSync(file, code);
      },
    ],
    [
      'wrong in one byte',
      (file) => {
        const code = readFileSync(file);
        const middle = Math.floor(code.length / 3);
        code.writeUInt8(code.readUInt8(middle) ^ 1, middle);
        writeFileSync(file, code);
      },
    ],
  ])('anew where a file of it is %s', async (_, spoil) => {
    const files = (await keptByOne()).map((name) => join(folder, name));
    for (const file of files) spoil(file);
    const spoilt = files.map((file) => readFileSync(file));
    await wallet();
    for (const [index, file] of files.entries()) expect(readFileSync(file)).not.toEqual(spoilt[index]);
    const before = times();
    await wallet();
    expect(times()).toEqual(before);
  });

  test('for a month, for a version may be gone; what it leads to elsewhere stays', async () => {
    const monthAgo = Date.now() / 1000 - 31 * 24 * 3600;
    const of18 = 'v18.0.0-x64-1';
    const files = [
      'first-olderold.cjs',
      'first-olderold.cjs.7-abc',
      'first-newernew.cjs',
      'oldnotes.cjs',
    ].map((name) => join(of18, name));
    for (const file of [...files, '../../elsewhere/first-olderold.cjs'].map((name) => join(folder, name))) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, '');
      if (file.includes('old')) utimesSync(file, monthAgo, monthAgo);
    }
    symlinkSync(elsewhere(), join(folder, 'v20.0.0-x64-1'));
    await wallet();
    expect(readdirSync(join(folder, of18)).toSorted()).toEqual(['first-newernew.cjs', 'oldnotes.cjs']);
    expect(readdirSync(elsewhere())).toEqual(['first-olderold.cjs']);
  });

  test('beside nothing else that may be removed: not the journal of whoever keeps it there', async () => {
    const state = join(folder, 'Data');
    const environment = { ERRAND_STATE_DIR: state };
    await wallet(environment);
    const names = readdirSync(state).toSorted();
    expect(names).toContain('sandbox.db');
    const monthAgo = Date.now() / 1000 - 31 * 24 * 3600;
    for (const name of names) utimesSync(join(state, name), monthAgo, monthAgo);
    await wallet({ ...environment, ...nodeOption('--stack-trace-limit=20') });
    expect(readdirSync(state)).toEqual(expect.arrayContaining(names));
  });

  test('on Windows beside the journal, in a folder of its own', () => {
    const local = join(workspace.folder, 'Local');
    const [data, dist] = [join(local, 'errand', 'Data'), join(workspace.folder, 'dist')];
    for (const made of [data, dist]) mkdirSync(made, { recursive: true });
    const old = ['journal.db', 'sandbox.db.key'].map((name) => join(data, name));
    for (const file of old) {
      writeFileSync(file, '');
      utimesSync(file, 0, 0);
    }
    writeFileSync(join(dist, 'first-12345678.cjs'), 'module.exports = 7;');
    const start = `const { env } = process;
      require(env.CACHE).useCompileCache(
        { ...process, env: { LOCALAPPDATA: env.LOCAL }, platform: 'win32', on: process.on.bind(process) }, env.DIST);
      process.stdout.write(String(require(env.DIST + '/first-12345678.cjs')));`;
    const cache = fileURLToPath(new URL('../../bin/compile-cache.js', import.meta.url));
    const env = { PATH: process.env.PATH ?? '', LOCAL: local, DIST: dist, CACHE: cache };
    for (const _ of ['cold', 'warm'])
      expect(spawnSync(process.execPath, ['-e', start], { env, encoding: 'utf8' })).toMatchObject({
        stdout: '7',
        stderr: '',
      });
    expect(readdirSync(data)).toEqual(['journal.db', 'sandbox.db.key']);
    expect(kept(join(local, 'errand', 'Cache'))).toHaveLength(1);
  });

  test('where XDG_CACHE_HOME says', async () => {
    await wallet({ XDG_CACHE_HOME: join(workspace.folder, 'caches') });
    expect(kept(join(workspace.folder, 'caches/errand')).length).toBeGreaterThan(3);
    expect(existsSync(folder)).toBe(false);
  });

  test.each(foreign)('nowhere where %s, be it the folder or the one within', async (_, change) => {
    mkdirSync(elsewhere());
    await wallet();
    const within = join(folder, readdirSync(folder)[0] ?? '');
    for (const at of [within, folder]) {
      for (const name of readdirSync(at)) rmSync(join(at, name), { recursive: true });
      change(at);
      await wallet();
      expect(readdirSync(at)).toEqual([]);
    }
    expect(readdirSync(elsewhere())).toEqual([]);
  });

  test('though the command sets flags of V8 while it runs, as one does that goes through a proxy', async () => {
    const proxied = withMore({
      HTTPS_PROXY: 'http://127.0.0.1:9',
      ERRAND_API_KEY: 'zz_test_0123456789abcdef',
    });
    const list = () =>
      spawned(proxied, ['order', 'list', '--base-url', 'https://shop.example', '--retries', '0']);
    expect((await list()).stderr).toContain('through the proxy 127.0.0.1:9');
    const before = times();
    await list();
    expect(times()).toEqual(before);
  });

  test.each([
    ['the first of two starts', [true, false]],
    ['the second of two starts', [false, true]],
  ])('though %s sets flags of V8 before it has loaded all, as a slow one does', async (_, starts) => {
    const hook = join(workspace.folder, 'hook.cjs');
    const soon = `const plain = setTimeout;
      globalThis.setTimeout = (act, ms) => (ms === 200 ? (act(), plain(() => {}, 0)) : plain(act, ms));`;
    const written: number[][] = [];
    for (const isSlow of starts) {
      writeFileSync(hook, isSlow ? soon : '');
      await wallet(nodeOption(`--require ${hook}`));
      written.push(times());
    }
    expect(written[1]).toEqual(written[0]);
  });

  test('apart where Node is given other flags of V8', async () => {
    await keptByOne();
    const before = times();
    await wallet(nodeOption('--stack-trace-limit=20'));
    await wallet();
    expect(times()).toEqual(expect.arrayContaining(before));
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test('not where somebody else changes what is loaded', async () => {
    const hook = join(workspace.folder, 'hook.cjs');
    const told = `require.extensions['.cjs'] = (module, file) => {
      require('node:fs').appendFileSync('loaded', file);
      require.extensions['.js'](module, file);
    };`;
    writeFileSync(hook, told);
    await wallet(nodeOption(`--require ${hook}`));
    expect(readFileSync(join(workspace.folder, 'loaded'), 'utf8')).toMatch(/command-[\w-]{8}\.cjs/);
    expect(kept()).toEqual([]);
  });

  test('not where the folder goes while the command runs, which is no failure of it', async () => {
    const gone = `rm -r ${folder}; touch ${folder}`;
    expect(await shell(workspace, `errand sandbox exec -- sh -c '${gone}'`)).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('compile-cache'),
    });
  });

  test('nowhere where the user wants none or Node keeps it, or where no folder can be made', async () => {
    await wallet({ NODE_DISABLE_COMPILE_CACHE: '1' });
    await wallet({ NODE_COMPILE_CACHE: join(workspace.folder, 'of-node') });
    await wallet({ HOME: '/dev/null' });
    expect(existsSync(folder)).toBe(false);
  });
});
