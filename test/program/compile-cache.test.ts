import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { errand } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

const hasCache = 'enableCompileCache' in module;
const isRoot = process.getuid?.() === 0;
let workspace: Workspace;
let folder: string;

beforeEach(() => {
  const made = makeWorkspace();
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

test('a Node without such a cache makes no folder for it, nor does what loads next to nothing', async () => {
  if (!hasCache) await wallet();
  for (const words of [['--version'], ['--help'], ['__complete', '--', 'order', '']])
    expect((await errand(workspace, words)).code).toBe(0);
  expect(existsSync(join(workspace.folder, '.cache'))).toBe(false);
});

describe.runIf(hasCache)('compiled code is kept', () => {
  test('in a folder of its owner alone, and the next start writes none of it anew', async () => {
    await wallet();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const times = () => kept().map((name) => statSync(join(folder, name)).mtimeMs);
    const before = times();
    expect(before.length).toBeGreaterThan(3);
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
    expect(kept()).toEqual([]);
  });

  test('nowhere where the user wants none, or where no folder can be made', async () => {
    await wallet({ NODE_DISABLE_COMPILE_CACHE: '1' });
    await wallet({ HOME: '/dev/null' });
    expect(kept()).toEqual([]);
  });
});
