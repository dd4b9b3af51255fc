import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { setV8Flag } from './v8-flags.ts';

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
