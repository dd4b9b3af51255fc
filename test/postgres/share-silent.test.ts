import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JobQueue } from '../../src/journal/postgres/queue.ts';
import { hasPostgres } from '../support/postgres.ts';
import { DatabaseProxy } from './proxy.ts';
import { useWorkers } from './workers.ts';

const workers = useWorkers();

/** Long enough for several heartbeats to be due, but not for any to have failed, ms. */
const longMs = 13_000;

/** Database response timeout, ms; code that does not wait for a response finishes in a tenth of it. */
const responseMs = 20_000;

/** Measures how long work takes, whether it succeeds or fails, ms. */
async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work().catch(() => {});
  return performance.now() - began;
}

describe.skipIf(!hasPostgres)('a worker whose database takes connections and says nothing', () => {
  test('fails soon, and leaves at once where it is told to', async () => {
    const database = await DatabaseProxy.start(Number(new URL(workers.database.url).port));
    onTestFinished(() => database.close());
    // Opening the journal creates the tables.
    await workers.run(0, 'order', 'journal', 'list');
    const stop = new AbortController();
    const [left, stopped] = [new AbortController().signal, stop.signal].map(
      (signal) => new JobQueue({ url: database.url(workers.database.url), shown: 'here' }, signal),
    ) as [JobQueue, JobQueue];
    const owner = { baseUrl: workers.service.baseUrl, account: 'account' };
    const { own } = await left.enter(owner, 'december', { sentWith: 'key', terms: {} });
    const campaign = own ?? expect.fail('it was not begun');
    await Promise.all([left.work(campaign), stopped.work(campaign)]);
    database.swallow();
    const fails = async (): Promise<void> => {
      const asked = [left.take(campaign, 'place', []), left.progress(campaign)];
      await Promise.allSettled(asked);
      await expect(asked[0]).rejects.toThrow('cannot be reached');
      // A connection that timed out is not waited for as long again.
      expect(await tookMs(() => left.progress(campaign))).toBeLessThan(responseMs);
      expect(await tookMs(() => left.leave())).toBeLessThan(responseMs);
    };
    const isStopped = async (): Promise<void> => {
      const taking = stopped.take(campaign, 'place', []);
      const done = stopped.done(campaign, { kind: 'place', place: 1 }, {});
      await setTimeout(longMs);
      const ending = tookMs(async () => {
        await Promise.allSettled([taking, done]);
        await stopped.progress(campaign).catch(() => {});
        await stopped.leave();
      });
      stop.abort(new Error('stopped'));
      expect(await ending).toBeLessThan(responseMs);
      await expect(taking).rejects.toThrow('stopped');
    };
    await Promise.all([fails(), isStopped()]);
  });
});
