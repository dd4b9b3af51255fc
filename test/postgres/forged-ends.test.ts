import { describe, expect, test } from 'vitest';
import { fingerprint } from '../../src/config/keys.ts';
import { macUnder } from '../../src/journal/mac.ts';
import { type Forger, forge, like } from '../support/forge.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { clockLater, errorOf } from '../support/shopping.ts';
import type { Workspace } from '../support/workspace.ts';
import { Team } from './team.ts';

describe.skipIf(!hasPostgres)('an end in the audit chain that this key has not signed', () => {
  const server = useServer();
  const minutes = (count: number): number => count * 60_000;
  const forgetAttempt = "UPDATE errand.attempts SET state = 'failed', order_id = NULL";

  /** A team with one order in doubt. */
  async function inDoubt(fault: 'reset-after' | 'reset-before') {
    const team = await Team.begin(server());
    const buyer = team.machine();
    team.proxy.faults = [fault];
    expect(await team.order(buyer)).toMatchObject({ code: 10 });
    return { team, buyer };
  }

  /** Says in the record, too, how an order ended. */
  function end(it: Forger, kind: 'refused' | 'given_up' | 'responded', orderId?: string): void {
    const key = String(it.rows().at(-1)?.key);
    it.enterEnd(key, kind, orderId);
    const state = kind === 'given_up' ? 'forgotten' : kind === 'refused' ? 'refused' : 'reported';
    const code = kind === 'responded' ? null : 'invalid';
    it.change(key, {
      ...{ state, live: 0, settled_at: new Date().toISOString(), code, message: code },
      order_id: orderId ?? null,
    });
  }

  /** Lets time pass for the service and for a machine. */
  function pass(team: Team, workspace: Workspace, ms: number): void {
    team.service.pass(ms);
    clockLater(workspace, ms);
  }

  const named = async (workspace: Workspace): Promise<void> => {
    const verified = await errand(workspace, ['audit', 'verify', '-o', 'json']);
    expect([verified.code, verified.stdout]).toEqual([7, expect.stringContaining('how ')]);
    expect((await errand(workspace, ['doctor'])).stdout).toContain('not signed under this API key');
  };

  test.each(['refused', 'given_up'] as const)(
    '%s: an order that was made is found, and not ordered again',
    async (kind) => {
      const { team, buyer } = await inDoubt('reset-after');
      await forge(team.machine(), (it) => end(it, kind));
      await team.database.run(forgetAttempt);
      const job = team.machine();
      await named(buyer);
      const settled = await team.order(job);
      expect(settled.code, settled.stderr).toBe(0);
      const again = await team.order(buyer);
      expect([again.code, errorOf(again).code], again.stderr).toEqual([5, 'duplicate_alike']);
      expect(await team.count()).toBe(1);
    },
  );

  test('refused: an order that the service does not list is ordered again only when it would be listed by then', async () => {
    const { team, buyer } = await inDoubt('reset-before');
    await forge(team.machine(), (it) => end(it, 'refused'));
    await team.database.run(`${forgetAttempt}, made_at = 1000`);
    const early = await team.order(buyer);
    expect([early.code, errorOf(early).code], early.stderr).toEqual([5, 'not_proven']);
    expect(await team.count()).toBe(0);
    pass(team, buyer, minutes(6));
    const late = await team.order(buyer);
    expect(late.code, late.stderr).toBe(0);
    expect(await team.count()).toBe(1);
  });

  test('refused: after the time in which the same order counts as another, too', async () => {
    const { team } = await inDoubt('reset-after');
    await forge(team.machine(), (it) => end(it, 'refused'));
    await team.database.run(`${forgetAttempt}, made_at = 1000`);
    const job = team.machine();
    pass(team, job, minutes(60));
    expect(await team.order(job)).toMatchObject({ code: 0 });
    expect(await team.count()).toBe(1);
  });

  test('refused, with an intent that hides the first', async () => {
    const { team, buyer } = await inDoubt('reset-after');
    await forge(team.machine(), (it) => {
      const row = it.rows()[0];
      it.enterWhole(like(row, { key: String(row?.key), body: JSON.parse(String(row?.body)) }));
      end(it, 'refused');
    });
    await team.database.run(forgetAttempt);
    await team.order(buyer);
    expect(await team.count()).toBe(1);
  });

  test.each([
    ['the chain and the attempt', true],
    ['the attempt alone', false],
  ])('an order that was cancelled, named by %s, is not taken for the one in doubt', async (_, isEntered) => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    const first = JSON.parse((await team.order(buyer)).stdout).id;
    expect(await errand(buyer, ['order', 'cancel', first])).toMatchObject({ code: 0 });
    team.proxy.faults = ['reset-after'];
    expect(await team.order(buyer, '--new')).toMatchObject({ code: 10 });
    const before = await team.count();
    expect(before).toBe(2);
    if (isEntered) await forge(team.machine(), (it) => end(it, 'responded', first));
    await team.database.run(`UPDATE errand.attempts SET state = 'placed', order_id = '${first}'`);
    for (const workspace of [team.machine(), buyer]) await team.order(workspace);
    expect(await team.count()).toBe(before);
  });

  test('is written by no command of the team: each order, refusal and given up order verifies', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    team.proxy.faults = ['reset-before'];
    expect(await team.order(buyer, '--new')).toMatchObject({ code: 10 });
    const key = (await errand(buyer, ['order', 'journal', 'list', '-o', 'id'])).stdout.trim();
    expect(await errand(buyer, ['order', 'journal', 'forget', key])).toMatchObject({ code: 0 });
    team.proxy.faults = ['reset-after'];
    expect(await team.order(buyer, '--new')).toMatchObject({ code: 10 });
    expect(await errand(team.machine(), ['order', 'journal', 'resume', '--all'])).toMatchObject({ code: 0 });
    expect((await team.order(team.machine(9_000_000), '--new')).code).not.toBe(0);
    const ends = await team.database.rows<{ kind: string; detail: string }>(
      "SELECT kind, detail FROM errand.audit WHERE kind IN ('responded', 'given_up', 'refused')",
    );
    expect(new Set(ends.map(({ kind }) => kind)).size).toBe(3);
    for (const { kind, detail } of ends)
      expect([kind, JSON.parse(detail).mac]).toEqual([kind, expect.any(String)]);
    expect(await errand(buyer, ['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  test('an order that another key of the user left in doubt and this one gave up is looked at by each, and ordered again', async () => {
    const { team, buyer } = await inDoubt('reset-before');
    const other = team.machine();
    other.environment.ERRAND_API_KEY = await team.service.mint();
    const key = (await errand(buyer, ['order', 'journal', 'list', '-o', 'id'])).stdout.trim();
    expect(await errand(other, ['order', 'journal', 'forget', key])).toMatchObject({ code: 0 });
    expect(await errand(buyer, ['audit', 'verify'])).toMatchObject({ code: 0 });
    const early = await team.order(buyer);
    expect([early.code, errorOf(early).code], early.stderr).toEqual([5, 'not_proven']);
    pass(team, buyer, minutes(6));
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    expect(await team.count()).toBe(1);
    expect((await team.order(buyer)).code).toBe(5);
    expect(await team.count()).toBe(1);
  });

  test('of an earlier version is looked at, and nothing is ordered twice', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    const { ERRAND_API_KEY: apiKey = '', ERRAND_BASE_URL: url = '' } = buyer.environment;
    // The order as an earlier version has it: a signed intent, and an end that is not signed.
    await forge(team.machine(), (it) => {
      const row = it.rows()[0];
      const intent = like(row, { key: 'earlier-0001', body: JSON.parse(String(row?.body)) });
      expect(intent.account).toBe(fingerprint(apiKey, url));
      it.insert(intent, { state: 'reported', order_id: row?.order_id ?? null, live: 1 });
      it.enterWhole(intent, macUnder(apiKey));
      it.enterEnd('earlier-0001', 'refused');
    });
    for (const workspace of [buyer, team.machine()]) {
      expect(await errand(workspace, ['audit', 'verify'])).toMatchObject({ code: 0 });
      expect((await team.order(workspace)).code).toBe(5);
    }
    expect(await team.count()).toBe(1);
  });
});
