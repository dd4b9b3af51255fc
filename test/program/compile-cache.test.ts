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
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { errand } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

const isRoot = process.getuid?.() === 0;
let workspace: Workspace;
let folder: string;

beforeEach(() => {
  const made = makeWorkspace({ XDG_CACHE_HOME: '' });
  workspace = made;
  folder = join(made.folder, '.cache/errand');
  onTestFinished(() => made.remove());
});

async function wallet(environment: Record<string, string> = {}): Promise<void> {
  const own = { ...workspace, environment: { ...workspace.environment, ...environment } };
  const { code, stdout } = await errand(own, ['wallet', '-o', 'json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { balance: expect.any(Number) }]);
}

const kept = (at = folder): string[] =>
  existsSync(at)
    ? readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'))
    : [];

const foreign: readonly (readonly [why: string, make: () => void])[] = [
  ['others can write there', () => chmodSync(folder, 0o777)],
  [
    'it is a link',
    () => {
      rmSync(folder, { recursive: true });
      mkdirSync(join(workspace.folder, 'elsewhere'));
      symlinkSync(join(workspace.folder, 'elsewhere'), folder);
    },
  ],
  ...(isRoot ? [['it is of another user', () => chownSync(folder, 65_534, 65_534)] as const] : []),
];

test('what loads next to nothing makes no folder for it', async () => {
  for (const words of [['--version'], ['--help'], ['__complete', '--', 'order', '']])
    expect((await errand(workspace, words)).code).toBe(0);
  expect(existsSync(join(workspace.folder, '.cache'))).toBe(false);
});

/** What a start keeps that gets no key and no address first, as the first of all does. */
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
        code.writeUInt32LE(1, 4);
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

  test('where XDG_CACHE_HOME says', async () => {
    await wallet({ XDG_CACHE_HOME: join(workspace.folder, 'caches') });
    expect(kept(join(workspace.folder, 'caches/errand')).length).toBeGreaterThan(3);
    expect(existsSync(folder)).toBe(false);
  });

  test.each(foreign)('nowhere where %s', async (_, change) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    change();
    await wallet();
    expect(kept().filter((name) => name.endsWith('.cjs'))).toEqual([]);
  });

  test('nowhere where the user wants none or Node keeps it, or where no folder can be made', async () => {
    await wallet({ NODE_DISABLE_COMPILE_CACHE: '1' });
    await wallet({ NODE_COMPILE_CACHE: join(workspace.folder, 'of-node') });
    await wallet({ HOME: '/dev/null' });
    expect(existsSync(folder)).toBe(false);
  });
});
