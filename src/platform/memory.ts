import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const mb = 1024 * 1024;
/**
 * Size, in bytes, to which V8's young generation (both semi-spaces) is limited. Without a limit, it takes twice as much
 * on Node 20, and 128 MB on Node 24.
 */
let enoughYoung = 16 * mb;

/**
 * Limit for the growth of V8's old generation, in percent. By default, V8 collects only when the old generation is
 * about four times as large as the live data.
 */
const oldGrowthPercent = 60;

/** Delay before the GC observer starts, in ms. A short command ends before that. */
const startMs = 200;

/**
 * Prevents V8's memory from growing with the run time of a command. If the user has set a size for the young
 * generation, that size stays as it is.
 */
export function limitMemory(): void {
  const { env, execArgv } = process;
  const isYoungSet = [env.NODE_OPTIONS, ...execArgv].some((option) => /semi.space/.test(option ?? ''));
  setTimeout(() => {
    setV8Flag('oldGrowth', oldGrowthPercent);
    if (isYoungSet) return;
    const collections = new PerformanceObserver(() => {
      if (youngGeneration() < enoughYoung) return;
      setV8Flag('youngGrowth', 1);
      collections.disconnect();
    });
    collections.observe({ entryTypes: ['gc'] });
  }, startMs).unref();
}

/**
 * Limits the young generation to 8 MB for streaming work, of which nothing survives a collection. A collection also
 * frees the off-heap bytes, which outweigh the heap.
 */
export function collectOften(): void {
  enoughYoung = 8 * mb;
}

const youngGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;

/** Version of V8 in Node 24. A later version of V8 may not know these flags, and would print a warning on stderr. */
export const latestKnownV8 = 13;

/**
 * V8 flags that errand sets. None of them is a stable API, so test/process/library-internals.test.ts fails when a flag
 * disappears.
 */
export const v8Flags = {
  /** Prevents wasm from being recompiled after it has run for a while. */
  wasmBudget: '--wasm-tiering-budget',
  /** Growth factor of the young generation. */
  youngGrowth: '--semi-space-growth-factor',
  /** By how much, in percent, the old generation may grow between collections. */
  oldGrowth: '--heap-growing-percent',
} as const;

/**
 * Sets a flag at run time, if this version of V8 is known to support the flag. Notifies `bin/compile-cache.js`, because
 * V8 rejects cached code that was compiled under other flags.
 */
export function setV8Flag(flag: keyof typeof v8Flags, value: number): void {
  const major = Number.parseInt(process.versions.v8, 10);
  if (major > latestKnownV8) return;
  setFlagsFromString(`${v8Flags[flag]}=${value}`);
  const listeners: NodeJS.EventEmitter = process;
  listeners.emit('errand:v8-flag');
}
