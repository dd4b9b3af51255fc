import { expect, test } from 'vitest';
import { race } from './policy-race.ts';
import { startService } from './service.ts';

/** How many processes are killed in each race. `npm run proofs -- races` has 200 races. */
const races = [0, 3, 8];

test('32 processes under a limit that 7 orders fit under place 7, though some are killed', async () => {
  const service = await startService();
  try {
    for (const killed of races) {
      const { orders, codes } = await race(service, killed);
      expect(orders).toBeLessThanOrEqual(7);
      if (killed === 0) expect(orders).toBe(7);
      expect(codes.filter((code) => code !== 0 && code !== 11 && code !== null)).toEqual([]);
    }
  } finally {
    await service.stop();
  }
});
