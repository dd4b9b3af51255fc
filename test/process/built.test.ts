import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

interface Built {
  sourcesHash(root: string): string;
  noteBuilt(sources: string, root: string): void;
  isBuilt(root: string): boolean;
}

const { sourcesHash, noteBuilt, isBuilt }: Built = await import(
  fileURLToPath(new URL('../../.ci/built.js', import.meta.url))
);

let root: string;
const at = (name: string): string => join(root, name);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'errand-built-'));
  const folder = root;
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(at('src/orders'), { recursive: true });
  mkdirSync(at('dist'));
  writeFileSync(at('src/orders/a.ts'), 'one');
  writeFileSync(at('package.json'), '{}');
  writeFileSync(at('dist/main.js'), 'built');
  noteBuilt(sourcesHash(root), root);
});

test('what is built from just these sources is not built again, whenever they were written', () => {
  utimesSync(at('src/orders/a.ts'), 1, 1);
  utimesSync(at('dist/main.js'), 1, 1);
  expect(isBuilt(root)).toBe(true);
});

test.each([
  ['a changed source', () => writeFileSync(at('src/orders/a.ts'), 'two')],
  ['a new source', () => writeFileSync(at('src/orders/b.ts'), '')],
  ['a source that is gone', () => rmSync(at('src/orders/a.ts'))],
  ['other libraries', () => writeFileSync(at('package-lock.json'), '{}')],
  ['a built file that was changed', () => writeFileSync(at('dist/main.js'), 'else')],
  ['a built file that is gone', () => rmSync(at('dist/main.js'))],
  ['a file of another build', () => writeFileSync(at('dist/old.js'), '')],
  ['nothing built', () => rmSync(at('dist'), { recursive: true })],
])('%s is seen', (_, change) => {
  change();
  expect(isBuilt(root)).toBe(false);
});

test('a source that changes while the build runs is built at the next run', () => {
  const sources = sourcesHash(root);
  writeFileSync(at('src/orders/a.ts'), 'two');
  noteBuilt(sources, root);
  expect(isBuilt(root)).toBe(false);
});
