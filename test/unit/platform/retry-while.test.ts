import { expect, test } from 'vitest';
import { retryWhile } from '../../../src/platform/async.ts';
import { RetryBudget } from '../../../src/platform/poll.ts';

/** A clock that advances only during sleeps. */
function timer() {
  let now = 0;
  return {
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
}

/** Simulates the lock waits of a run; `held` holds the locks of another process. */
function run() {
  const clock = timer();
  const patience = new RetryBudget();
  const held = new Set<string>();
  const take = (lock: string): Promise<string> =>
    retryWhile(
      () => true,
      () => {
        if (held.has(lock)) throw new Error(`${lock} is locked`);
        return lock;
      },
      { clock, retryBudget: patience, lock },
    );
  return { clock, held, take };
}

test('a lock that stays held is waited for once in a run: all of its waits have one deadline', async () => {
  const { clock, held, take } = run();
  held.add('journal');
  for (let times = 1; times <= 3; times += 1)
    await expect(take('journal')).rejects.toThrow('journal is locked');
  expect(clock.monotonic()).toBeGreaterThanOrEqual(15_000);
  expect(clock.monotonic()).toBeLessThan(16_000);
});

test('another lock that is held then does not begin a wait of its own', async () => {
  const { clock, held, take } = run();
  held.add('journal').add('configuration');
  await expect(take('journal')).rejects.toThrow('journal is locked');
  await expect(take('configuration')).rejects.toThrow('configuration is locked');
  expect(await take('uploads')).toBe('uploads');
  await expect(take('journal')).rejects.toThrow('journal is locked');
  expect(clock.monotonic()).toBeLessThan(16_000);
});

test('once it was free the next wait is a whole one', async () => {
  const { clock, held, take } = run();
  held.add('journal');
  await expect(take('journal')).rejects.toThrow('journal is locked');
  held.clear();
  await take('journal');
  held.add('journal');
  const before = clock.monotonic();
  await expect(take('journal')).rejects.toThrow('journal is locked');
  expect(clock.monotonic() - before).toBeGreaterThanOrEqual(15_000);
});

test('a process that lives long has patience again a minute later', async () => {
  const { clock, held, take } = run();
  held.add('journal');
  await expect(take('journal')).rejects.toThrow('journal is locked');
  await clock.sleep(60_000);
  const before = clock.monotonic();
  await expect(take('journal')).rejects.toThrow('journal is locked');
  expect(clock.monotonic() - before).toBeGreaterThanOrEqual(15_000);
});
