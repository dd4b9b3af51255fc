/** Shorter times than this are noise, ms of CPU. */
const noiseMs = 2;

/**
 * Ratio of the times for ten times the input: about 10 if linear, 100 if quadratic. Uses CPU time and the best of
 * several runs, since load only ever adds time.
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  await work(Math.min(size, 100));
  const small = await best(() => work(size));
  const large = await best(() => work(size * 10));
  return large / Math.max(small, noiseMs);
}

/** Threshold between the two, with headroom for garbage collection. */
export const linear = 40;

async function best(work: () => unknown): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const began = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(began);
    shortest = Math.min(shortest, (user + system) / 1000);
  }
  return shortest;
}
