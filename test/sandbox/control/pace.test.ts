import { expect, test } from 'vitest';
import { Pace } from '../../../src/sandbox/control/pace.ts';

/** What ends first: a pause after 30 ms of work, or 20 ms. */
const first = (pace: Pace): Promise<string> =>
  Promise.race([
    pace.pause(30).then(() => 'the pause'),
    new Promise<string>((resolve) => setTimeout(() => resolve('20 ms'), 20)),
  ]);

test('what works in the background goes on at once, but where a request works', async () => {
  const pace = new Pace();
  expect(await first(pace)).toBe('the pause');
  expect(await pace.ahead(() => first(pace))).toBe('20 ms');
  const failed = pace.ahead(async () => {
    throw new Error('refused');
  });
  await expect(failed).rejects.toThrow('refused');
  expect(await first(pace)).toBe('the pause');
});
