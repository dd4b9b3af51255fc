// Builds the program: one entry with lazy chunks, so that a command loads only what it uses.
import { rmSync } from 'node:fs';
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

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'linked',
  external: ['@photostructure/sqlite'],
  // Bundled CommonJS packages require Node's own modules.
  banner: {
    js: 'import{createRequire as errandRequire}from"node:module";const require=errandRequire(import.meta.url);',
  },
  plugins: [commanderWithoutProcesses],
  logLevel: 'warning',
});
