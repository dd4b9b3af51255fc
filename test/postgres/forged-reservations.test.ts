import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { macUnder } from '../../src/journal/mac.ts';
import type { Reservation } from '../../src/journal/reservation-row.ts';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { makeKey, requestIdIn } from '../support/approval-workspace.ts';
import { type Forger, forge, like } from '../support/forge.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { errorOf } from '../support/shopping.ts';
import type { Workspace } from '../support/workspace.ts';
import { Team } from './team.ts';

const marked = ['reservation_marks', 'reservation_entries', 'limit_sums', 'reservation_totals'];

/** Runs statements on a machine's copy. */
function change(file: string, sql: string): void {
  const Sqlite = loadSqlite();
  const copy = new Sqlite(file);
  copy.exec(sql);
  copy.close();
}

/** What a machine's copy has verified and summed up by now. */
function snapshot(file: string): { putBack(): void } {
  change(
    file,
    marked
      .map((name) => `DROP TABLE IF EXISTS old_${name}; CREATE TABLE old_${name} AS SELECT * FROM ${name}`)
      .join(';'),
  );
  const putBack = marked.map((name) => `DELETE FROM ${name}; INSERT INTO ${name} SELECT * FROM old_${name}`);
  return { putBack: () => change(file, `${putBack.join(';')}; DELETE FROM reservation_changes`) };
}

describe.skipIf(!hasPostgres)('a limit, whatever the role of the database does to the reservations', () => {
  const server = useServer();
  const day = 24 * 3600 * 1000;

  /** A team with a policy and one order of $50 placed. */
  async function spent(policy: string) {
    const team = await Team.begin(server());
    const buyer = team.machine();
    await team.publish(buyer, policy);
    const first = await team.order(buyer);
    expect(first.code, first.stderr).toBe(0);
    return { team, buyer };
  }

  const rows = (change: Partial<Reservation>) => (it: Forger) => it.reserve((one) => ({ ...one, ...change }));

  const refused = async (team: Team, workspace: Workspace): Promise<void> => {
    const again = await team.order(workspace, '--new');
    expect([again.code, errorOf(again).category], again.stderr).toEqual([11, 'policy']);
    expect(await team.count()).toBe(1);
  };

  const lowered: [string, (it: Forger) => void][] = [
    ['counts nothing', rows({ counted: 0 })],
    ['is smaller', rows({ cents: 1, counted: 1 })],
    ['is settled at nothing', rows({ state: 'settled', counted: 0 })],
    ['is released', rows({ state: 'released', counted: 0, intents: [] })],
    ['is of the day before', (it) => it.reserve((one) => ({ ...one, at: one.at - day }))],
    ['is of the month before', (it) => it.reserve((one) => ({ ...one, at: one.at - 40 * day }))],
    ['is a live order', (it) => it.reserve((one) => ({ ...one, isRehearsal: !one.isRehearsal }))],
    ['is of another account', rows({ account: 'another' })],
    ['is of another order', rows({ key: 'another' })],
    ['is gone', (it) => it.unreserve()],
    [
      'is gone, and the chain says that the order was refused',
      (it) => {
        it.enterEnd(String(it.rows()[0]?.key), 'refused');
        it.unreserve();
      },
    ],
    [
      'is released, and the chain says that it counts nothing',
      (it) => {
        it.enterCounted();
        it.reserve((one) => ({ ...one, state: 'released', counted: 0, intents: [] }));
      },
    ],
    [
      'is gone, and the chain has another intent of the same key',
      (it) => {
        const row = it.rows()[0];
        it.enterWhole(like(row, { key: String(row?.key), body: JSON.parse(String(row?.body)) }));
        it.unreserve();
      },
    ],
  ];

  test.each(lowered)('per_day holds where one %s, and it is named', async (_, change) => {
    const { team, buyer } = await spent('limits: { per_day: $60 }');
    await forge(team.machine(), change);
    for (const workspace of [buyer, team.machine()]) await refused(team, workspace);
    const verified = await errand(buyer, ['audit', 'verify', '-o', 'json']);
    expect([verified.code, verified.stdout]).toEqual([7, expect.stringContaining('"reservation"')]);
    expect((await errand(team.machine(), ['doctor'])).stdout).toContain('is gone or was changed');
  });

  /** What somebody may do, on a machine, to the mark up to which it has verified the reservations. */
  const marks: [string, string][] = [
    [
      'is at the end',
      'UPDATE reservation_marks SET number = (SELECT max(number) FROM audit), serial = 1000000',
    ],
    ['is of another time', "UPDATE reservation_marks SET number = 0, hash = '', serial = 0"],
    [
      'is that of the newest entry',
      `UPDATE reservation_marks SET number = (SELECT max(number) FROM audit),
         hash = (SELECT hash FROM audit ORDER BY number DESC LIMIT 1),
         serial = (SELECT max(serial) FROM reservation_changes)`,
    ],
    ['is gone, and so are the changes', 'DELETE FROM reservation_marks; DELETE FROM reservation_changes'],
    ['is there, and the entries are forgotten', 'DELETE FROM reservation_entries'],
    ['is there, and the sums are gone', 'DELETE FROM limit_sums'],
    ['is older than the chain', ''],
  ];

  test.each(marks)('per_day holds where the mark of this machine %s', async (_, sql) => {
    const { team, buyer } = await spent('limits: { per_day: $60 }');
    await refused(team, buyer);
    const state = String(buyer.environment.ERRAND_STATE_DIR);
    const copy = readdirSync(state, { withFileTypes: true }).find(
      (one) => one.isDirectory() && one.name.startsWith('team-'),
    );
    const file = join(state, String(copy?.name), 'journal.db');
    const older = snapshot(file);
    // The other order is of another machine, and its reservation is made smaller.
    await forge(team.machine(), rows({ cents: 1, counted: 1 }));
    await refused(team, buyer);
    if (sql === '') older.putBack();
    else change(file, sql);
    for (const workspace of [buyer, team.machine()]) await refused(team, workspace);
  });

  test('a limit of a part of the orders holds where a reservation says that it is of another', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    const host = new URL(team.service.product('test-success')).hostname;
    await team.publish(buyer, `per:\n  - { retailer: ${host}, per_day: $60 }`);
    const first = await team.order(buyer);
    expect(first.code, first.stderr).toBe(0);
    await forge(team.machine(), (it) =>
      it.reserve((one) => ({ ...one, facts: { ...one.facts, retailers: [], metadata: [] } })),
    );
    for (const workspace of [buyer, team.machine()]) await refused(team, workspace);
  });

  test('what is reserved is looked for as a duplicate, whatever it is said to be for', async () => {
    const { team, buyer } = await spent('duplicates: { same: [product], within: 1d, then: refuse }');
    await forge(team.machine(), (it) =>
      it.reserve((one) => ({ ...one, facts: { ...one.facts, products: [], recipient: '' } })),
    );
    for (const workspace of [buyer, team.machine()]) await refused(team, workspace);
  });

  test('an approval is used once, also where the reservation that used it is gone', async () => {
    const team = await Team.begin(server());
    const buyer = team.machine();
    makeKey(buyer, 'ada');
    await team.publish(buyer, 'approve: { above: $20 }\napprovers: [ada.pub]');
    const id = requestIdIn(await team.order(buyer));
    expect(await errand(buyer, ['approval', 'approve', id, '--key', 'ada'])).toMatchObject({ code: 0 });
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    await forge(team.machine(), (it) => it.unreserve());
    for (const workspace of [buyer, team.machine()])
      expect((await team.order(workspace, '--new')).code).toBe(11);
    expect(await team.count()).toBe(1);
  });

  test('what an order cost counts once the service shows it, on each machine and for each key', async () => {
    const { team, buyer } = await spent('limits: { per_day: $100 }');
    team.service.pass(3600 * 1000);
    const other = team.machine();
    other.environment.ERRAND_API_KEY = await team.service.mint();
    const used = async (workspace: Workspace, ...more: string[]): Promise<number> =>
      JSON.parse((await errand(workspace, ['policy', 'usage', '-o', 'json', ...more])).stdout)[0].used_cents;
    const before = await used(buyer);
    const settled = await used(buyer, '--refresh');
    expect(settled).toBeLessThan(before);
    expect([await used(other), await used(team.machine())]).toEqual([settled, settled]);
    expect(await errand(buyer, ['audit', 'verify'])).toMatchObject({ code: 0 });
    await forge(team.machine(), (it) => it.reserve((one) => ({ ...one, counted: 1 })));
    expect(await used(buyer)).toBe(settled);
  });

  test('what an earlier version reserved, which its entry does not say, counts as it stands', async () => {
    const { team, buyer } = await spent('limits: { per_day: $120 }');
    await forge(team.machine(), (it) => {
      const key = 'earlier-0001';
      it.insert(like(it.rows()[0], { key }), { state: 'reported', live: 1 });
      it.enterWhole(like(it.rows()[0], { key }), macUnder(team.service.key));
      it.reserve((one) => [one, { ...one, key, intents: [key], cents: 3000, counted: 3000 }]);
    });
    await refused(team, buyer);
    expect(await errand(buyer, ['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  test('an order that was refused frees what was reserved for it', async () => {
    const team = await Team.begin(server());
    const dear = team.machine(9_000_000);
    await team.publish(dear, 'limits: { per_day: $90200 }');
    expect((await team.order(dear)).code).not.toBe(0);
    for (const more of [[], ['--new'], ['--new']])
      expect(await team.order(team.machine(), ...more)).toMatchObject({ code: 0 });
    expect(await errand(dear, ['audit', 'verify'])).toMatchObject({ code: 0 });
  });
});
