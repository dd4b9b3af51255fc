#!/usr/bin/env node
// Starts the built program; a checkout that is not built runs its sources through tsx. A TAB has an entry of its own.
import { existsSync } from 'node:fs';

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
// An interrupted program waits for no reader.
if (process.exitCode > 128 && process.stdout.writableLength > 0) process.exit();
