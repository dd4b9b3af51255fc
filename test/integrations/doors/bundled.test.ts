import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { packedProject } from '../../support/packed.ts';

const project = packedProject();
afterAll(() => project.remove());

/** A program that uses every entry point: it places an order in its own sandbox and reads it back. */
const program = `
import { createClient } from 'errand';
import { openJournal, placeOrder } from 'errand/safely';
import { startSandbox } from 'errand/sandbox';

async function main() {
  const sandbox = await startSandbox({ port: 0 });
  const { baseUrl, apiKey } = sandbox;
  const client = createClient({ baseUrl, apiKey });
  const journal = await openJournal({ folder: process.env.FOLDER, program: 'bundle' });
  const order = { ...sandbox.exampleOrder, idempotency_key: 'bundle-1' };
  const { order: placed } = await placeOrder(client, journal, order);
  const { body } = await client.call('order.get', { path: { order_id: placed.id } });
  console.log(body.id === placed.id && journal.unsettled().length);
  await journal.close();
  await client.close();
  await sandbox.close();
}
main();
`;

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
  writeFileSync(input, program);
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
