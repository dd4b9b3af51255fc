#!/usr/bin/env node
// Starts the built program; a checkout that is not built runs its sources through tsx. A TAB has an entry of its own.
import { createRequire } from 'node:module';

// The built program takes Node's own modules this way, which came to Node 22 only with 22.3.
process.getBuiltinModule ??= createRequire(import.meta.url);
const { existsSync } = process.getBuiltinModule('node:fs');

const isTab = process.argv[2] === '__complete';
const built = isTab
  ? new URL('../dist/complete.js', import.meta.url)
  : new URL('../dist/main.js', import.meta.url);
const source = isTab
  ? new URL('../src/complete.ts', import.meta.url)
  : new URL('../src/main.ts', import.meta.url);

async function run() {
  if (process.env.NODE_DEBUG) {
    const { beginWithoutTraces, tracesSecrets } = await import('./node-debug.js');
    if (tracesSecrets(process.env)) return beginWithoutTraces(process);
  }
  const isBuilt = existsSync(built);
  if (!isBuilt) (await import('tsx/esm/api')).register();
  const { main } = await import(isBuilt ? built.href : source.href);
  return main(process);
}

process.exitCode = await run();
