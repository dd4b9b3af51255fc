import { setFlagsFromString } from 'node:v8';

/** V8 of Node 24; a later one may not know these flags, and would say so on stderr. */
export const latestKnownV8 = 13;

/** What errand asks of V8, which promises none of it: test/library-internals.test.ts fails when a flag is gone. */
export const v8Flags = {
  /** Keeps it from compiling wasm a second time once it has run a while. */
  wasmBudget: '--wasm-tiering-budget',
  /** By how much the young generation grows, each time that much has survived in it. */
  youngGrowth: '--semi-space-growth-factor',
  /** By how many percent the old generation grows before it is collected again. */
  oldGrowth: '--heap-growing-percent',
} as const;

/** Sets a flag while the process runs, where V8 is known to have it. `bin/compile-cache.js` hears of it: V8 compares flags. */
export function setV8Flag(flag: keyof typeof v8Flags, value: number): void {
  const major = Number.parseInt(process.versions.v8, 10);
  if (major > latestKnownV8) return;
  setFlagsFromString(`${v8Flags[flag]}=${value}`);
  const listeners: NodeJS.EventEmitter = process;
  listeners.emit('errand:v8-flag');
}
