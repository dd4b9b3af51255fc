import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { SharedPace } from '../../src/bulk/workers/pace.ts';
import { Team } from '../../src/bulk/workers/team.ts';
import { JobQueue, RequestBudget } from '../../src/journal/postgres/queue.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { ErrandError } from '../../src/platform/errors.ts';
import type { Context } from '../../src/run/context.ts';
import { hasPostgres } from '../support/postgres.ts';
import { useWorkers } from './workers.ts';

const workers = useWorkers();
const owner = { baseUrl: 'http://service.test', account: 'account' };
const { signal } = new AbortController();

/** Starts a worker in a campaign. */
async function beginning(name: string) {
  const address = { url: workers.database.url, shown: 'here' };
  const queue = new JobQueue(address, signal);
  const budget = new RequestBudget(address, owner, signal);
  onTestFinished(async () => {
    await queue.leave();
    budget.close();
  });
  const { own } = await queue.enter(owner, name, { sentWith: 'key', terms: {} });
  const campaign = own ?? expect.fail('it was not begun');
  await queue.work(campaign);
  return { queue, budget, campaign };
}

describe.skipIf(!hasPostgres)('a worker among others', () => {
  // Opening the journal creates the tables.
  beforeEach(async () => void (await workers.run(0, 'order', 'journal', 'list')));

  test('the rate of one upload holds as long as it has workers, whatever another begins', async () => {
    const most = async () =>
      (await workers.database.rows<{ most: number }>('SELECT most FROM errand.request_budgets'))[0]?.most;
    const slow = await beginning('slow');
    await slow.budget.begin(slow.campaign, 5);
    const other = await beginning('other');
    await other.budget.begin(other.campaign, undefined);
    expect(await most()).toBe(5);
    await slow.queue.leave();
    await other.budget.begin(other.campaign, undefined);
    expect(await most()).toBe(1000);
  });

  test('one that cannot set a chunk aside does not take it again', async () => {
    const { queue, budget, campaign } = await beginning('december');
    await budget.begin(campaign, undefined);
    await workers.database.run(`
      INSERT INTO errand.campaign_chunks (campaign, kind, place, count, body)
        SELECT ${campaign.id}, 'place', place, 1, '{}' FROM generate_series(0, 1) AS place;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room'; END $$;
      CREATE TRIGGER fails BEFORE UPDATE OF not_before ON errand.campaign_chunks FOR EACH ROW EXECUTE FUNCTION fail()`);
    const context = { clock: systemClock, signal } as Context;
    const team = new Team(context, queue, new SharedPace(budget, systemClock), campaign);
    let looks = 0;
    const worked: number[] = [];
    const working = team.work(
      'place',
      async ({ place }) => {
        worked.push(place);
        if (place === 0) return queue.done(campaign, { kind: 'place', place }, {});
        await setTimeout(300);
        throw new ErrandError('unavailable', 'too many requests', { status: 429 });
      },
      {
        waits: async () => {
          looks += 1;
          return looks < 10;
        },
      },
    );
    const all = async (): Promise<void> => {
      for await (const _ of working);
    };
    await expect(all()).rejects.toThrow('no room');
    expect(worked).toEqual([0, 1]);
  });
});
