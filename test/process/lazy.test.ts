import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { expect, test } from 'vitest';

const source = (name: string): string => fileURLToPath(new URL(`../../src/${name}`, import.meta.url));

/** Packages a module loads eagerly: those bundled without dynamic imports. */
async function packagesOf(name: string): Promise<string[]> {
  const { output } = await build({ input: source(name), platform: 'node', logLevel: 'silent', write: false });
  const chunks = new Map(
    output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part] as const] : [])),
  );
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    chunks.get(file)?.imports.forEach(visit);
  };
  for (const { isEntry, fileName } of chunks.values()) if (isEntry) visit(fileName);
  const modules = [...reached].flatMap((file) => chunks.get(file)?.moduleIds ?? []);
  const names = modules.map((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1]);
  return [...new Set(names.filter((found) => found !== undefined))].sort();
}

test.each([
  'cli/output/render.ts',
  'cli/output/json.ts',
  'cli/output/id.ts',
  'format/money.ts',
  'format/time.ts',
  'platform/redact/safe-text.ts',
  'cli/output/error.ts',
  'cli/output/progress.ts',
  'cli/output/table.ts',
  'cli/output/stream.ts',
])('%s loads no library', async (name) => {
  expect(await packagesOf(name)).toEqual([]);
});

test.each([
  ['format/csv.ts', 'csv-stringify'],
  ['cli/output/yaml.ts', 'yaml'],
  ['cli/output/query.ts', '@jmespath-community/jmespath'],
])('%s loads only %s', async (name, library) => {
  expect(await packagesOf(name)).toEqual([library]);
});
