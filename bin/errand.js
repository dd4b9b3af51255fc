#!/usr/bin/env node
// Starts the built program; a checkout that is not built runs its sources through tsx.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);
if (!existsSync(built)) (await import('tsx/esm/api')).register();
const { main } = await import(
  existsSync(built) ? built.href : new URL('../src/main.ts', import.meta.url).href
);
process.exitCode = await main(process);
