import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/format/canonical.ts';
import { forge } from '../support/forge.ts';
import { rowBody } from '../support/order-body.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
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

  test('and a record in doubt that is gone is named, by each machine', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    team.proxy.faults = ['reset-before'];
    expect(await team.order(buyer)).toMatchObject({ code: 10 });
    await forge(team.machine(), (it) => it.sweep());
    const gone = /has \S+ in doubt since \S+, and the journal's record of it is gone/;
    for (const workspace of [buyer, team.machine()]) {
      const verified = await errand(workspace, ['audit', 'verify', '-o', 'json']);
      expect([verified.code, JSON.parse(verified.stdout).findings]).toMatchObject([
        7,
        [{ finding: 'lost', message: expect.stringMatching(gone) }],
      ]);
      expect((await errand(workspace, ['doctor'])).stdout).toMatch(gone);
      const resumed = await errand(workspace, ['order', 'journal', 'resume', '--all']);
      expect(resumed.stderr).toMatch(gone);
      expect(resumed.stderr).not.toContain('nothing is in doubt');
    }
  });

  /** Changes that no checksum shows. Each leaves a text that errand does not write. */
  const unreadable: readonly [string, string, (team: Team) => Promise<void>, string][] = [
    ['reservations', 'intents', reserving('intents'), 'order create --file order.json --new'],
    ['reservations', 'facts', reserving('facts'), 'order create --file order.json --new'],
    ['uploads', 'source', uploads("UPDATE errand.uploads SET source = 'other'"), 'bulk upload rows.csv'],
    ['layouts', 'headings', uploads("UPDATE errand.layouts SET headings = '{'"), 'bulk upload rows.csv'],
    ['row_blocks', 'rows', uploads("UPDATE errand.row_blocks SET rows = 'other'"), 'bulk report rows'],
    [
      ...(['heads', 'name'] as const),
      ({ database }) => database.run("DELETE FROM errand.heads WHERE name = 'uploads'"),
      'bulk upload rows.csv',
    ],
    [
      ...(['removed', 'key'] as const),
      uploads("INSERT INTO errand.removed VALUES ('uploads', 'uploads', '{', 0)"),
      'bulk upload rows.csv',
    ],
  ];

  /** Changes a column of a reservation, with a checksum that fits. */
  function reserving(column: string): (team: Team) => Promise<void> {
    const columns = [
      ...['key', 'base_url', 'account', 'state', 'at', 'cents', 'fee', 'counted', 'rehearsal', 'order_id'],
      ...['pid', 'process_started', 'override', 'intents', 'facts'],
    ];
    return async ({ database, change }) => {
      const [row] = await database.rows('SELECT * FROM errand.reservations');
      const values = columns.map((name) => (name === column ? 'other' : (row?.[name] ?? null)));
      const checksum = sha256(`reservation ${JSON.stringify(values)}`).slice(0, 32);
      const set = `${column} = 'other', checksum = '${checksum}'`;
      await change('reservations', set, `key = '${String(row?.key)}'`);
    };
  }

  function uploads(sql: string): (team: Team) => Promise<void> {
    const [, table = ''] = /errand\.(\w+)/.exec(sql) ?? [];
    return ({ database }) =>
      database.run(`UPDATE errand.heads SET seq = seq + 1 WHERE name = 'uploads'; ${sql};
        UPDATE errand.${table} SET seq = (SELECT seq FROM errand.heads WHERE name = 'uploads')`);
  }

  test.each(unreadable)(
    'nor is it called a bug where a row of %s has other %s',
    async (_, _name, alter, line) => {
      const team = await Team.begin(server());
      const [buyer, other] = [team.machine(), team.machine()];
      await team.publish(buyer, 'limits: { per_day: $1000 }');
      other.environment.ERRAND_POLICY_SIGNER = String(buyer.environment.ERRAND_POLICY_SIGNER);
      expect(await team.order(buyer)).toMatchObject({ code: 0 });
      const row = {
        ...rowBody(team.service.product('test-success')),
        max_price: '$40.00',
        name: 'Mira Quint',
      };
      const table = [Object.keys(row), Object.values(row)].map((cells) => cells.join(',')).join('\n');
      for (const { folder } of [buyer, other]) writeFileSync(join(folder, 'rows.csv'), `${table}\n`);
      const uploaded = await errand(buyer, ['bulk', 'upload', 'rows.csv']);
      expect(uploaded.code, uploaded.stderr).toBe(0);
      await alter(team);
      for (const workspace of [buyer, other]) {
        const { stdout, stderr } = await errand(workspace, line.split(' '));
        expect(stdout + stderr).not.toMatch(/failed unexpectedly|This is a bug/);
      }
    },
  );

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
