import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Journal } from '../../src/journal/journal.ts';
import { schemaVersion } from '../../src/journal/postgres/schema.ts';
import { StorageError } from '../../src/platform/errors.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { baseUrl, intent } from '../support/intents.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { begin, errand } from '../support/run.ts';
import { shopping } from '../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { DatabaseProxy } from './proxy.ts';

describe.skipIf(!hasPostgres)('two versions of errand on one database', () => {
  const server = useServer();
  let root: string;
  let database: TeamDatabase;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'errand-versions-'));
    database = await server().newDatabase();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const open = (machine: string): Promise<Journal> =>
    Journal.open(join(root, machine), Date.now, {
      shared: { address: { url: database.url, shown: `127.0.0.1/${database.name}` } },
    });

  /** Contents of the journal's shared tables, without leases. */
  const contents = async (): Promise<unknown> =>
    Promise.all(
      ['heads', 'intents', 'audit', 'tally', 'facts', 'removed'].map((table) =>
        database.rows(`SELECT * FROM errand.${table} ORDER BY 1, 2`),
      ),
    );

  test('many that come first at the same moment make one schema', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, index) => open(`m${index}`)));
    await Promise.all(all.map((journal, index) => journal.record(intent(`k${index}`, index))));
    for (const journal of all) await journal.close();
    const fresh = await open('fresh');
    expect(fresh.list(true)).toHaveLength(8);
    await fresh.close();
    expect(await brokenDatabase(database)).toEqual([]);
  });

  describe('processes that come at the same moment make the tables once', () => {
    /** Separate machines, each with the program installed. */
    function machines(count: number, url: string): Workspace[] {
      const made = Array.from({ length: count }, () =>
        makeWorkspace({ ERRAND_NO_INPUT: '1', ERRAND_DATABASE_URL: url }),
      );
      onTestFinished(() => {
        for (const machine of made) machine.remove();
      });
      return made;
    }
    const look = ['order', 'journal', 'list', '--all', '-o', 'json'];
    const listed = async (all: readonly Workspace[]): Promise<void> => {
      for (const { code, stdout, stderr } of await Promise.all(all.map((machine) => errand(machine, look))))
        expect([code, stdout.trim()], stderr).toEqual([0, '[]']);
    };
    const tables = async (): Promise<string[]> => {
      const found = await database.rows<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'errand' ORDER BY 1",
      );
      return found.map(({ name }) => name);
    };
    const version = () => database.rows('SELECT version FROM errand.schema');

    test('in a database that nobody has used', async () => {
      await listed(machines(3, database.url));
      expect(await version()).toEqual([{ version: schemaVersion }]);
      expect((await database.rows('SELECT id FROM errand.heads')).length).toBe(2);
      expect(await brokenDatabase(database)).toEqual([]);
    });

    test('in one that an earlier version has used, which stays the one that it was', async () => {
      const all = machines(3, database.url);
      await listed(all.slice(0, 1));
      const now = await tables();
      // Restore the schema as the first migration leaves it, without what the later ones create.
      await database.run(`DROP TABLE errand.campaign_chunks, errand.campaigns, errand.workers, errand.request_budgets,
          errand.attempts, errand.attempt_accounts, errand.attempt_parts, errand.attempt_settings,
          errand.row_blocks, errand.upload_rows;
        UPDATE errand.schema SET version = 1`);
      const [head] = await database.rows('SELECT id FROM errand.heads ORDER BY name');
      await listed(all);
      expect([await version(), await tables()]).toEqual([[{ version: schemaVersion }], now]);
      expect((await database.rows('SELECT id FROM errand.heads ORDER BY name'))[0]).toEqual(head);
    });

    test.each([
      ['before the server has the tables', false],
      ['before it hears that they are made', true],
    ])('killed %s, the next one makes or finds them', async (_, arrives) => {
      const proxy = await DatabaseProxy.start(server().port);
      onTestFinished(() => proxy.close());
      const [first, second] = machines(2, proxy.url(database.url));
      if (!first || !second) throw new Error('two machines');
      const child = begin(first, 'errand', look);
      proxy.faultAt({
        at: /CREATE TABLE errand\.schema/,
        ...{ arrives, end: 'silence' },
        onMessage: () => void child.kill('SIGKILL'),
      });
      await once(child, 'close');
      await proxy.heal();
      await listed([second]);
      expect(await version()).toEqual([{ version: schemaVersion }]);
    });
  });

  test('a newer schema is refused in words, and nothing is written', async () => {
    const first = await open('a');
    await first.record(intent('k1', 1));
    await first.close();
    await database.run('UPDATE errand.schema SET version = version + 1');
    const before = await contents();
    for (const machine of ['a', 'b']) await expect(open(machine)).rejects.toThrow(/newer errand/);
    expect(await contents()).toEqual(before);
  });

  test('one that was at work when the schema became newer writes nothing any more', async () => {
    const running = await open('a');
    await running.record(intent('k1', 1));
    await database.run('UPDATE errand.schema SET version = version + 1');
    const before = await contents();
    await expect(running.record(intent('k2', 2))).rejects.toThrow(StorageError);
    await expect(running.record(intent('k2', 2))).rejects.toThrow(/newer errand/);
    // The result is spooled locally until this machine is updated.
    expect(await running.respond('k1', baseUrl, 'order-1')).toBe('follows');
    expect(await contents()).toEqual(before);
    await running.close();
  });

  test('the program says so, and sends nothing', async () => {
    const shop = await shopping();
    Object.assign(shop.workspace.environment, { ERRAND_DATABASE_URL: database.url });
    expect((await shop.order()).code).toBe(0);
    await database.run('UPDATE errand.schema SET version = version + 1');
    const before = await contents();
    const { code, stderr } = await shop.order('--new');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/changed by a newer errand[\s\S]*Update errand/),
    ]);
    expect(await shop.orders()).toHaveLength(1);
    expect(await contents()).toEqual(before);
  });
});
