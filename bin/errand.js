#!/usr/bin/env node
// Starts the built program; a checkout that is not built runs its sources through tsx. A TAB has an entry of its own.
import { existsSync } from 'node:fs';

const entry = process.argv[2] === '__complete' ? 'complete' : 'main';
const built = new URL(`../dist/${entry}.js`, import.meta.url);
if (!existsSync(built)) (await import('tsx/esm/api')).register();
const { main } = await import(
  existsSync(built) ? built.href : new URL(`../src/${entry}.ts`, import.meta.url).href
);
process.exitCode = await main(process);
