import { expect, test } from 'vitest';
import { PriorityScheduler } from '../../../../src/sandbox/control/scheduler.ts';

/** Which finishes first: a pause after 30 ms of work, or 20 ms. */
const first = (pace: PriorityScheduler): Promise<string> =>
  Promise.race([
    pace.pause(30).then(() => 'the pause'),
    new Promise<string>((resolve) => setTimeout(() => resolve('20 ms'), 20)),
  ]);

test('what works in the background goes on at once, but where a request works', async () => {
  const pace = new PriorityScheduler();
  expect(await first(pace)).toBe('the pause');
  expect(await pace.ahead(() => first(pace))).toBe('20 ms');
  const failed = pace.ahead(async () => {
    throw new Error('refused');
  });
  await expect(failed).rejects.toThrow('refused');
  expect(await first(pace)).toBe('the pause');
});

test('a piece is small while requests come, and larger where nobody has sent one', () => {
  const pace = new PriorityScheduler();
  const alone = pace.chunk;
  pace.started();
  expect(pace.chunk.maxRecords).toBeLessThan(alone.maxRecords);
  expect(pace.chunk.maxMs).toBeLessThan(alone.maxMs);
});

test.each([
  ['where no request works', (_: PriorityScheduler, work: () => Promise<void>) => work()],
  ['where one does', (pace: PriorityScheduler, work: () => Promise<void>) => pace.ahead(work)],
])('of two that work in the background one goes on a turn, %s', async (_, among) => {
  const pace = new PriorityScheduler();
  const turns: number[] = [];
  let turn = 0;
  const work = async (): Promise<void> => {
    for (let pieces = 0; pieces < 5; pieces += 1) {
      await pace.pause(0.5);
      turns.push(turn);
    }
  };
  const both = among(pace, async () => void (await Promise.all([work(), work()])));
  const counting = (): void => {
    turn += 1;
    if (turns.length < 10) setImmediate(counting);
  };
  setImmediate(counting);
  await both;
  expect(new Set(turns).size).toBe(10);
});
