import { describe, expect, test } from 'vitest';
import { forge } from '../support/forge.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { errorOf } from '../support/shopping.ts';
import { Team } from './team.ts';

describe.skipIf(!hasPostgres)('a record whose end was taken out of the audit chain', () => {
  const server = useServer();

  test('is not sent, on any machine, and the chain is not whole', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    team.proxy.faults = ['reset-before'];
    expect(await team.order(buyer)).toMatchObject({ code: 10 });
    const key = (await errand(buyer, ['order', 'journal', 'list', '-o', 'id'])).stdout.trim();
    expect(await errand(buyer, ['order', 'journal', 'forget', key])).toMatchObject({ code: 0 });
    expect(await team.order(buyer, '--new')).toMatchObject({ code: 0 });
    await team.database.run(`ALTER TABLE errand.audit DISABLE TRIGGER USER;
      DELETE FROM errand.audit WHERE kind = 'given_up'; ALTER TABLE errand.audit ENABLE TRIGGER USER`);
    const open = { state: 'intended', live: 2, settled_at: null };
    await forge(team.machine(), (it) => it.change(key, open));
    const job = team.machine();
    for (const [workspace, why] of [
      [buyer, 'has ended'],
      [job, 'the audit chain was changed after'],
    ] as const) {
      const ended = await errand(workspace, ['order', 'journal', 'resume', '--all', '-o', 'json']);
      expect([ended.code, errorOf(ended)]).toMatchObject([
        5,
        { code: 'not_proven', message: expect.stringContaining(why) },
      ]);
    }
    expect(await team.count()).toBe(1);
    expect(await errand(job, ['audit', 'verify'])).toMatchObject({ code: 7 });
  });
});
