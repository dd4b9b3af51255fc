import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const source = (name: string): string => fileURLToPath(new URL(`../../src/output/${name}`, import.meta.url));

/** The packages that a module loads before anything is called: what its bundle holds without dynamic imports. */
async function packagesOf(name: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [source(name)],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    splitting: true,
    outdir: 'unwritten',
    logLevel: 'silent',
  });
  const entry =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(name))?.[0] ?? '';
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement') visit(next);
  };
  visit(entry);
  const inputs = [...reached].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
  const names = inputs.map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1]);
  return [...new Set(names.filter((found) => found !== undefined))].sort();
}

test.each([
  'render.ts',
  'json.ts',
  'id.ts',
  'money.ts',
  'time.ts',
  'safe-text.ts',
  'error.ts',
  'progress.ts',
  'table.ts',
  'stream.ts',
])('%s loads no library', async (name) => {
  expect(await packagesOf(name)).toEqual([]);
});

test.each([
  ['csv.ts', 'csv-stringify'],
  ['yaml.ts', 'yaml'],
  ['query.ts', '@jmespath-community/jmespath'],
])('%s loads only %s', async (name, library) => {
  expect(await packagesOf(name)).toEqual([library]);
});
