import { describe, expect, test } from 'vitest';
import { forge } from '../support/forge.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errorOf } from '../support/shopping.ts';
import { Team } from './team.ts';

describe.skipIf(!hasPostgres)('whoever has the role of the database frees no order by it', () => {
  const server = useServer();

  const unsent = "UPDATE errand.attempts SET state = 'unsent', order_id = NULL";
  const deleted = 'DELETE FROM errand.attempts';

  describe.each([
    ['says that the attempt was not sent', unsent],
    ['says that its order failed', "UPDATE errand.attempts SET state = 'failed'"],
    ['deletes the attempt', deleted],
    ['changes the secret that needs are compared with', "UPDATE errand.attempt_settings SET secret = '00'"],
    ['makes the account one of live orders', 'UPDATE errand.attempt_accounts SET test = 0'],
  ])('who %s', (_, sql) => {
    test.each([
      ['and leaves the records', false],
      ['and deletes the records', true],
    ])('%s', async (_, deletes) => {
      const team = await Team.begin(server());
      const buyer = team.machine();
      expect(await team.order(buyer)).toMatchObject({ code: 0 });
      await team.database.run(sql);
      if (deletes) await forge(team.machine(), (it) => it.sweep());
      for (const workspace of [buyer, team.machine()]) {
        const again = await team.order(workspace);
        expect([again.code, errorOf(again).code], again.stderr).toEqual([5, 'duplicate_alike']);
      }
      expect(await team.count()).toBe(1);
    });
  });

  test.each([
    ['reset-after', unsent],
    ['reset-before', deleted],
    ['reset-after', 'UPDATE errand.attempts SET made_at = 1000'],
  ] as const)('nor one in doubt (%s) by deleting its record, and: %s', async (fault, sql) => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    team.proxy.faults = [fault];
    expect(await team.order(buyer)).toMatchObject({ code: 10 });
    const before = await team.count();
    await forge(team.machine(), (it) => it.sweep());
    await team.database.run(sql);
    for (const workspace of [buyer, team.machine()]) {
      const again = await team.order(workspace);
      expect([again.code, errorOf(again)]).toMatchObject([
        5,
        { code: 'not_proven', message: expect.stringContaining('in doubt, and the journal') },
      ]);
    }
    expect(await team.count()).toBe(before);
  });

  test('nor one in doubt by saying that it was refused', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    team.proxy.faults = ['reset-after'];
    expect(await team.order(buyer)).toMatchObject({ code: 10 });
    await forge(team.machine(), (it) => {
      const ended = { state: 'refused', live: 0, settled_at: new Date().toISOString() };
      it.change(String(it.rows()[0]?.key), { ...ended, code: 'invalid', message: 'no' });
    });
    const again = await team.order(buyer);
    expect([again.code, errorOf(again).code]).toEqual([5, 'not_proven']);
    expect(await team.count()).toBe(1);
  });
});
