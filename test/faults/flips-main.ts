import { atOnce } from './at-once.ts';
import { type Flip, flipOnce, killedMachine } from './flips.ts';
import { startService } from './service.ts';

/** @returns whether no problem was found. */
export async function runFlips(flips: number, firstSeed: number, workers: number): Promise<boolean> {
  const service = await startService();
  try {
    const key = await service.mint();
    const killed = await killedMachine(service, key);
    console.log(`${flips} flips, seeds ${firstSeed} to ${firstSeed + flips - 1}`);
    const wrong: (Flip & { readonly seed: number })[] = [];
    const seeds = Array.from({ length: flips }, (_, index) => firstSeed + index);
    await atOnce(seeds, workers, async (seed) => {
      const flip = await flipOnce(service, key, killed, seed);
      if (flip.wrong.length > 0) wrong.push({ ...flip, seed });
    });
    await killed.close();
    for (const flip of wrong) console.log(JSON.stringify(flip));
    console.log(`${flips - wrong.length} passed, ${wrong.length} failed`);
    return wrong.length === 0;
  } finally {
    await service.stop();
  }
}
