import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { setV8Flag, v8Major } from './v8-flags.ts';

/**
 * Bytes of the two halves of V8's young generation: what that of Node 20 has at most. That of Node 24 takes 128 MB, which makes
 * only the check of a file with an error in each row faster.
 */
const enoughYoung = 32 * 1024 * 1024;

/** V8 of Node 20, which collects its old generation often enough by itself: to collect more makes a long list slower. */
const thrifty = 11;
const oldGrowthPercent = 60;

/** A short command is over by then, and spares itself what watches the collector. */
const startMs = 200;

/** Keeps V8 from taking more memory the longer a command runs; its young generation only where the user has not set its size. */
export function limitMemory(): void {
  const { env, execArgv } = process;
  const isSet = [env.NODE_OPTIONS, ...execArgv].some((option) => /semi.space/.test(option ?? ''));
  setTimeout(() => {
    if (v8Major() > thrifty) setV8Flag('oldGrowth', oldGrowthPercent);
    if (isSet) return;
    const collections = new PerformanceObserver(() => {
      if (youngGeneration() < enoughYoung) return;
      setV8Flag('youngGrowth', 1);
      collections.disconnect();
    });
    collections.observe({ entryTypes: ['gc'] });
  }, startMs).unref();
}

const youngGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
