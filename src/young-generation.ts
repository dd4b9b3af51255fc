import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { setV8Flag } from './v8-flags.ts';

/**
 * Bytes of its two halves: what V8 of Node 20 has at most. That of Node 24 takes 128 MB, which makes only the check of a file
 * with an error in each row faster.
 */
const enough = 32 * 1024 * 1024;

/** A short command is over by then, and spares itself what watches the collector. */
const startMs = 200;

/** Keeps the memory of a command that runs long from growing with V8's young generation, unless the user has set its size. */
export function limitYoungGeneration(): void {
  const { env, execArgv } = process;
  if ([env.NODE_OPTIONS, ...execArgv].some((option) => /semi.space/.test(option ?? ''))) return;
  setTimeout(() => {
    const collections = new PerformanceObserver(() => {
      if (youngGeneration() < enough) return;
      setV8Flag('youngGrowth', 1);
      collections.disconnect();
    });
    collections.observe({ entryTypes: ['gc'] });
  }, startMs).unref();
}

const youngGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
