import { expect, test } from 'vitest';
import { race } from './policy-race.ts';
import { startService } from './service.ts';

/** Number of races in sequence; each kills one more process than the last. */
const races = 10;

test('32 processes under a limit that 7 orders fit under place 7, though some are killed', async () => {
  const service = await startService();
  try {
    for (let killed = 0; killed < races; killed += 1) {
      const { orders, codes } = await race(service, killed);
      expect(orders).toBeLessThanOrEqual(7);
      if (killed === 0) expect(orders).toBe(7);
      expect(codes.filter((code) => code !== 0 && code !== 11 && code !== null)).toEqual([]);
    }
  } finally {
    await service.stop();
  }
});
