import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const mb = 1024 * 1024;
/** Bytes of the two halves of V8's young generation. Left alone, it takes twice as many on Node 20, and 128 MB on Node 24. */
let enoughYoung = 16 * mb;

/** V8 lets its old generation grow to some four times what is in use before it collects it. */
const oldGrowthPercent = 60;

/** A short command is over by then, and spares itself what watches the collector. */
const startMs = 200;

/** Keeps V8 from taking more memory the longer a command runs; its young generation only where the user has not set its size. */
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
 * Keeps the young generation at 8 MB, for work that passes on what comes: none of it outlives a collection,
 * which also frees its bytes outside V8's heap, and there are more of them than in it.
 */
export function collectOften(): void {
  enoughYoung = 8 * mb;
}

const youngGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;

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
