import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/format/canonical.ts';
import { makeKey, requestIdIn } from '../support/approval-workspace.ts';
import { forge } from '../support/forge.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { errorOf } from '../support/shopping.ts';
import { Terminal } from '../support/terminal.ts';
import type { Workspace } from '../support/workspace.ts';
import { Team } from './team.ts';

describe.skipIf(!hasPostgres)('an approval in a shared database', () => {
  const server = useServer();

  async function asked(policy = 'approve: { above: $20 }') {
    const team = await Team.begin(server());
    const buyer = team.machine();
    makeKey(buyer, 'ada');
    await team.publish(buyer, policy);
    return { team, buyer, id: requestIdIn(await team.order(buyer)) };
  }

  async function approveAtTerminal(workspace: Workspace, id: string): Promise<void> {
    const { ERRAND_NO_INPUT: _, ...environment } = workspace.environment;
    const terminal = new Terminal({ ...workspace, environment }, 'errand', ['approval', 'approve', id], {
      columns: 160,
    });
    await terminal.shows('Type $51.00 to approve it');
    terminal.type('51.00\r');
    expect(await terminal.ended(), terminal.text).toBe(0);
    terminal.close();
  }

  const columns = ['id', 'terms', 'asked_at', 'state', 'decided_at', 'decided_by', 'signature', 'request'];

  /** Changes the one approval as the role may, with a checksum that fits. */
  async function alter({ database, change }: Team, changes: Readonly<Record<string, string>>): Promise<void> {
    const [row] = await database.rows('SELECT * FROM errand.approvals');
    const now: Record<string, unknown> = { ...row, ...changes };
    const text = JSON.stringify(columns.map((name) => now[name] ?? null));
    const values = { ...changes, checksum: sha256(`approval ${text}`).slice(0, 32) };
    await change(
      'approvals',
      Object.entries(values)
        .map(([name, value]) => `${name} = $v$${value}$v$`)
        .join(', '),
    );
  }

  test('at a terminal of another machine with the same key holds', async () => {
    const { team, buyer, id } = await asked();
    await approveAtTerminal(team.machine(), id);
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    expect(await errand(buyer, ['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  test('that only the database says was given at a terminal lets nothing through', async () => {
    const { team, buyer, id } = await asked();
    const at = new Date().toISOString();
    await alter(team, { state: 'approved', decided_at: at, decided_by: 'the terminal of ada@desk' });
    for (const workspace of [buyer, team.machine()]) {
      const refused = await team.order(workspace);
      expect([refused.code, errorOf(refused).message]).toEqual([
        11,
        expect.stringContaining(`approval ${id} is not signed under the API key in use`),
      ]);
    }
    expect(await team.count()).toBe(0);
  });

  test('given at a terminal for one order lets no other through', async () => {
    const { team, buyer, id } = await asked();
    await approveAtTerminal(team.machine(), id);
    const dear = team.machine(9000);
    const other = requestIdIn(await team.order(dear));
    const [row] = await team.database.rows<Record<'terms' | 'request', string>>(
      `SELECT terms, request FROM errand.approvals WHERE id = '${other}'`,
    );
    await forge(team.machine(), () => {});
    await team.database.run(`DELETE FROM errand.approvals WHERE id = '${other}'`);
    await alter(team, { terms: row?.terms ?? '', request: (row?.request ?? '').replaceAll(other, id) });
    expect(await team.order(team.machine(9000))).toMatchObject({ code: 11 });
    expect(await team.count()).toBe(0);
    expect(buyer.folder).not.toBe(dear.folder);
  });

  test('that another program has written in other JSON stands as it was', async () => {
    const { team, buyer, id } = await asked('approve: { above: $20 }\napprovers: [ada.pub]');
    expect(await errand(buyer, ['approval', 'approve', id, '--key', 'ada'])).toMatchObject({ code: 0 });
    // PostgreSQL's own order of names, with spaces.
    await team.change('approvals', 'request = jsonb(request::json)::text');
    expect(await errand(buyer, ['approval', 'list', '-o', 'id'])).toMatchObject({
      code: 0,
      stdout: `${id}\n`,
    });
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
  });

  test('that was altered counts for nothing, is named, and stops nothing else', async () => {
    const { team, buyer, id } = await asked('approve: { above: $20 }\napprovers: [ada.pub]');
    expect(await errand(buyer, ['approval', 'approve', id, '--key', 'ada'])).toMatchObject({ code: 0 });
    for (const set of [
      `request = replace(request, '5100', '510000')`,
      `request = replace(request, '5100', '5e9')`,
      `request = '{}'`,
      `request = 'no JSON'`,
    ]) {
      await team.change('approvals', set, `id = '${id}'`);
      const text = `approval ${id} is not as errand wrote it for this journal: another program changed it, wrote it or copied it here`;
      const listed = await errand(buyer, ['approval', 'list', '-o', 'id']);
      expect(listed.code).toBe(0);
      expect(listed.stdout).not.toContain(id);
      expect(listed.stderr).toContain(`warning: ${text}`);
      const shown = await errand(buyer, ['approval', 'show', id, '-o', 'json']);
      expect([shown.code, errorOf(shown)]).toEqual([
        5,
        expect.objectContaining({ code: 'approval_altered', message: expect.stringContaining(text) }),
      ]);
      const doctor = await errand(buyer, ['doctor', '-o', 'json']);
      expect(doctor.stdout).toContain(text);
    }
    const anew = requestIdIn(await team.order(buyer));
    expect(anew).not.toBe(id);
    expect(await errand(buyer, ['approval', 'approve', anew, '--key', 'ada'])).toMatchObject({ code: 0 });
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    expect(await team.count()).toBe(1);
  });

  test('signed by an approver is not used again once its reservation is gone', async () => {
    const { team, buyer, id } = await asked('approve: { above: $20 }\napprovers: [ada.pub]');
    expect(await errand(buyer, ['approval', 'approve', id, '--key', 'ada'])).toMatchObject({ code: 0 });
    expect(await team.order(buyer)).toMatchObject({ code: 0 });
    await forge(team.machine(), (it) => it.unreserve());
    expect(await team.order(buyer, '--new')).toMatchObject({ code: 11 });
    expect(await team.count()).toBe(1);
  });
});
