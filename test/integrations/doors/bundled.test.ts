import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { everyDoor, packedProject } from '../../support/packed.ts';

const project = packedProject();
afterAll(() => project.remove());

const bundlers: Readonly<Record<string, (input: string, file: string) => Promise<unknown>>> = {
  esbuild: (input, outfile) =>
    build({
      entryPoints: [input],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
    }),
  async rolldown(input, file) {
    const bundle = await rolldown({ input, platform: 'node' });
    await bundle.write({ file, format: 'cjs', codeSplitting: false });
    await bundle.close();
  },
};

test.each(Object.entries(bundlers))('a bundle of every door in CommonJS by %s runs', async (name, bundle) => {
  const input = join(project.folder, 'program.js');
  writeFileSync(input, `${everyDoor}main();\n`);
  // The one library that cannot be bundled must sit next to it, for Node before 22.13.
  const folder = mkdtempSync(join(tmpdir(), 'errand-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'node_modules/@photostructure'), { recursive: true });
  const native = fileURLToPath(new URL('../../../node_modules/@photostructure/sqlite', import.meta.url));
  symlinkSync(native, join(folder, 'node_modules/@photostructure/sqlite'));
  const file = join(folder, `${name}.cjs`);
  await bundle(input, file);
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, HOME: folder, FOLDER: join(folder, 'journal') },
    encoding: 'utf8',
  });
  expect([stderr, stdout]).toEqual(['', '0\n']);
});
