import { expect, test } from 'vitest';
import { playWeeks } from './weeks.ts';

/** `npm run proofs -- standing` has 52 weeks on 50 machines; these are for each change. */
const seed = Math.floor(Date.now() / 1000);

test('eight weeks on five machines, with kills, lost responses and clocks that jump, have each date once', async () => {
  const { findings, log, ordered, missed } = await playWeeks({ weeks: 8, machines: 5, seed });
  expect(findings, `seed ${seed}\n${log.join('\n')}`).toEqual([]);
  expect(ordered + missed).toBe(8);
});
