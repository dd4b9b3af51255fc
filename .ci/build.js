// Builds the program: one entry with lazy chunks, so that a command loads only what it uses.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** commander loads child_process for executable subcommands, which errand has none of; it costs 3 ms at each start. */
const commanderWithoutProcesses = {
  name: 'commander-without-processes',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('commander') ? { path: 'child_process', namespace: 'unused' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }));
  },
};

/** What completion must know of every command, asked of the commands themselves. */
async function programTree() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-build-'));
  try {
    const outfile = join(folder, 'describe.mjs');
    await build({ ...shared, entryPoints: ['src/completion/describe.ts'], outfile });
    const { describeProgram } = await import(pathToFileURL(outfile).href);
    return await describeProgram();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A TAB loads no command: their description is made here, in place of at each start. */
const programTreeMade = {
  name: 'program-tree-made',
  setup({ onLoad }) {
    onLoad({ filter: /completion[\\/]program-tree\.ts$/ }, async () => {
      const json = JSON.stringify(JSON.stringify(await programTree()));
      return { contents: `export const programTree = async () => JSON.parse(${json});`, loader: 'js' };
    });
  },
};

const shared = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  external: ['@photostructure/sqlite'],
  // Bundled CommonJS packages require Node's own modules.
  banner: {
    js: 'import{createRequire as errandRequire}from"node:module";const require=errandRequire(import.meta.url);',
  },
};

rmSync('dist', { recursive: true, force: true });
const published = {
  ...shared,
  minify: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'linked',
};
await build({
  ...published,
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  splitting: true,
  plugins: [commanderWithoutProcesses],
});
// One file: each further chunk would cost a TAB a millisecond.
await build({
  ...published,
  entryPoints: ['src/complete.ts'],
  outfile: 'dist/complete.js',
  plugins: [programTreeMade],
});
