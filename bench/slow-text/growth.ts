/** Shorter times than this are noise, ms of CPU. */
const noiseMs = 2;

/**
 * How many times longer work takes that is given ten times as much: about 10 where it is linear, 100 where it is
 * quadratic. The time is that of the CPU, and of several runs the best counts, since a busy machine only ever adds.
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  await work(Math.min(size, 100));
  const small = await best(() => work(size));
  const large = await best(() => work(size * 10));
  return large / Math.max(small, noiseMs);
}

/** Between the two, with room for a collection of garbage. */
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
