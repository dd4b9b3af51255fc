import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { macOf, macUnder } from '../../src/journal/mac.ts';
import { JobQueue } from '../../src/journal/postgres/queue.ts';
import { Agent } from '../integrations/mcp/agent.ts';
import { clients } from '../integrations/mcp/client-lines.ts';
import { Scene } from '../integrations/mcp/scene.ts';
import { makeKey, requestIdIn } from '../support/approval-workspace.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { errorOf } from '../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { Team } from './team.ts';

describe.skipIf(!hasPostgres)('what is signed for one database', () => {
  const server = useServer();

  /** Puts the rows of one in place of another's, as the role may, so that every machine reads it. */
  async function copy(from: TeamDatabase, to: TeamDatabase, ...tables: string[]): Promise<void> {
    await to.run(`UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal'`);
    const [head] = await to.rows<Record<'seq', number>>(
      "SELECT seq FROM errand.heads WHERE name = 'journal'",
    );
    for (const table of tables) {
      const rows = (await from.rows(`SELECT * FROM errand.${table}`)).map((row) => ({ ...row, ...head }));
      if (table !== 'audit') await to.run(`DELETE FROM errand.${table}`);
      await to.run(`INSERT INTO errand.${table}
        SELECT * FROM json_populate_recordset(NULL::errand.${table}, $v$${JSON.stringify(rows)}$v$)`);
    }
  }

  /** Two databases with a machine each, one service, one API key and one policy. */
  async function two(policy?: string) {
    const team = await Team.begin(server());
    const [here, there] = [team.machine(), team.machine()];
    const database = await server().newDatabase();
    there.environment.ERRAND_DATABASE_URL = database.url;
    const approver = keyFiles(here);
    for (const workspace of [here, there])
      if (policy === undefined) await errand(workspace, ['order', 'journal', 'list']);
      else {
        for (const [name, key] of approver) writeFileSync(join(workspace.folder, name), key, { mode: 0o600 });
        await team.publish(workspace, policy);
      }
    return { team, here, there, database, approver };
  }

  /** An approver's key, for another machine. */
  function keyFiles(workspace: Workspace): [name: string, text: string][] {
    makeKey(workspace, 'ada');
    return ['ada', 'ada.pub'].map((name) => [name, readFileSync(join(workspace.folder, name), 'utf8')]);
  }

  const approvals = 'approve: { above: $20 }\napprovers: [ada.pub]';

  /** An order that an approver of the first database has approved there. */
  async function approved() {
    const it = await two(approvals);
    const { team, here } = it;
    const id = requestIdIn(await team.order(here));
    expect(await errand(here, ['approval', 'approve', id, '--key', 'ada'])).toMatchObject({ code: 0 });
    return { ...it, id };
  }

  test('an approval lets nothing through in another', async () => {
    const { team, here, there, database, id } = await approved();
    await copy(team.database, database, 'approvals');
    const listed = await errand(there, ['approval', 'list', '-o', 'id']);
    expect(listed).toMatchObject({ code: 0, stdout: '' });
    expect(listed.stderr).toContain(`approval ${id} is not as errand wrote it for this journal`);
    const refused = await team.order(there);
    expect([refused.code, errorOf(refused).code]).toEqual([11, 'approval_required']);
    expect(requestIdIn(refused)).not.toBe(id);
    expect(await team.count()).toBe(0);
    expect(await team.order(here)).toMatchObject({ code: 0 });
  });

  test('an exported approval counts neither in another nor where there is none', async () => {
    const { team, here, there, approver, id } = await approved();
    const { stdout } = await errand(here, ['approval', 'export', id]);
    const alone = team.machine();
    mkdirSync(join(alone.folder, '.config'), { mode: 0o700 });
    for (const [name, key] of approver)
      writeFileSync(join(alone.folder, '.config', name), key, { mode: 0o600 });
    delete alone.environment.ERRAND_DATABASE_URL;
    writeFileSync(join(alone.folder, '.config', 'policy.yaml'), `version: 1\n${approvals}\n`, {
      mode: 0o600,
    });
    const tried: [Workspace, string][] = [
      [there, 'another'],
      [alone, 'a shared'],
    ];
    for (const [workspace, which] of tried) {
      writeFileSync(join(workspace.folder, 'approval.json'), stdout);
      for (const line of [
        ['approval', 'import', 'approval.json'],
        ['order', 'create', '--file', 'order.json', '--approval', 'approval.json'],
      ]) {
        const refused = await errand(workspace, [...line, '-o', 'json']);
        expect([refused.code, errorOf(refused).message]).toEqual([
          11,
          expect.stringContaining(
            `approval ${id} was asked for in ${which} database, and counts there alone`,
          ),
        ]);
      }
    }
    expect(await team.count()).toBe(0);
  });

  test('a chain that was copied into another is named, and nothing is sent on it', async () => {
    const { team, here, database } = await two();
    expect(await team.order(here)).toMatchObject({ code: 0 });
    await copy(team.database, database, 'intents', 'audit', 'tally', 'facts', 'reservations');
    const machine = team.machine();
    machine.environment.ERRAND_DATABASE_URL = database.url;
    const verified = await errand(machine, ['audit', 'verify']);
    expect([verified.code, verified.stderr]).toEqual([
      7,
      expect.stringContaining('record 1 was signed for another database: the chain was copied from there'),
    ]);
    const refused = await team.order(machine, '--new');
    expect([refused.code, errorOf(refused).code]).toEqual([5, 'chain_elsewhere']);
    expect(await team.count()).toBe(1);
  });

  test('a quote is not placed in another, by whom it was told', async () => {
    const scene = await Scene.begin(clients[0], {});
    onTestFinished(() => scene.end());
    const databases = [await server().newDatabase(), await server().newDatabase()] as const;
    const [here, there] = await Promise.all(
      databases.map((database) => {
        const environment = { ...scene.workspace.environment, ERRAND_DATABASE_URL: database.url };
        const machine = makeWorkspace(environment, { oddService: true });
        onTestFinished(machine.remove);
        return Agent.start(machine, { line: scene.line });
      }),
    );
    if (!here || !there) throw new Error('no agents');
    const quote = await scene.quote(here);
    await there.get('wallet');
    await scene.quote(there);
    await copy(databases[0], databases[1], 'quotes');
    expect(await there.refused('order_place', { quote })).toMatchObject({ code: 'quote_damaged' });
    expect(await scene.orders()).toHaveLength(0);
    await here.get('order_place', { quote });
    expect(await scene.orders()).toHaveLength(1);
  });

  test('a job of a shared upload is not worked on from another; one that an earlier version queued is', async () => {
    const { team } = await two();
    const owner = { baseUrl: 'http://service.test', account: 'account' };
    const mac = macUnder('key');
    const queueFor = (database: string) => {
      const address = { url: team.database.url, shown: 'here' };
      const { signal } = new AbortController();
      const queue = new JobQueue(address, signal, { mac, database });
      onTestFinished(() => queue.leave());
      return queue;
    };
    const begun = { sentWith: 'key', terms: { size: 1 } };
    await queueFor('here').enter(owner, 'december', begun);
    await expect(queueFor('there').enter(owner, 'december')).rejects.toThrow('not signed');
    expect((await queueFor('here').enter(owner, 'december')).own?.terms).toEqual(begun.terms);
    const at = { name: 'december' };
    const terms = { ...begun.terms, mac: macOf(mac, 'job', { at, value: begun.terms }) };
    await team.database.run(`UPDATE errand.campaigns SET terms = $v$${JSON.stringify(terms)}$v$::json`);
    expect((await queueFor('here').enter(owner, 'december')).own?.terms).toEqual(begun.terms);
  });
});
