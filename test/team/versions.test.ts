import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StorageError } from '../../src/errors.ts';
import { Journal } from '../../src/state/journal.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { shopping } from '../program/shopping.ts';
import { baseUrl, intent } from '../state/intents.ts';
import { hasPostgres, type TeamDatabase, useServer } from './postgres.ts';

describe.skipIf(!hasPostgres)('two versions of errand on one database', { timeout: 60_000 }, () => {
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

  /** All that the database holds, but for the times of leases. */
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
    // What the service made is kept beside it until this machine is updated.
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
