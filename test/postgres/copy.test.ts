import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyFolder, type DatabaseAddress } from '../../src/format/database-address.ts';
import { ChainCheck } from '../../src/journal/audit-check.ts';
import { recordOfRow } from '../../src/journal/audit-record.ts';
import { Journal } from '../../src/journal/journal.ts';
import { journalFile } from '../../src/journal/journal-tables.ts';
import { Uploads } from '../../src/journal/uploads.ts';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { baseUrl, intent, journalModule } from '../support/intents.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';

describe.skipIf(!hasPostgres)("a machine's copy of the database", () => {
  const server = useServer();
  let root: string;
  let database: TeamDatabase;
  const opened: Journal[] = [];
  const now = (): number => Date.now();

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'errand-copy-'));
    database = await server().newDatabase();
  });
  afterEach(async () => {
    for (const journal of opened.splice(0)) await journal.close();
    rmSync(root, { recursive: true, force: true });
  });

  const addressOf = ({ url, name }: TeamDatabase): DatabaseAddress => ({ url, shown: `127.0.0.1/${name}` });
  const fileOf = (machine: string): string =>
    journalFile(copyFolder(join(root, machine), addressOf(database)));

  async function open(machine: string): Promise<Journal> {
    const journal = await Journal.open(join(root, machine), now, {
      shared: { address: addressOf(database) },
    });
    opened.push(journal);
    return journal;
  }

  async function close(journal: Journal): Promise<void> {
    opened.splice(opened.indexOf(journal), 1);
    await journal.close();
  }

  /** Places an order and reports it. */
  async function place(journal: Journal, key: string, cents: number): Promise<void> {
    await journal.record(intent(key, cents));
    await journal.respond(key, baseUrl, `order-${key}`);
    await journal.report([{ key, baseUrl, operation: 'order.create', madeId: `order-${key}` }]);
  }

  /** Places and reports k1, of 100 cents, and k2, of 200, in another process. */
  function placeElsewhere(machine: string): void {
    const script = `const { Journal } = await import(${journalModule});
      const address = { url: process.env.DATABASE, shown: ${JSON.stringify(addressOf(database).shown)} };
      const journal = await Journal.open(${JSON.stringify(join(root, machine))}, Date.now, { shared: { address } });
      for (const intent of ${JSON.stringify([intent('k1', 100), intent('k2', 200)])}) {
        await journal.record(intent);
        await journal.respond(intent.key, intent.baseUrl, 'order-' + intent.key);
        await journal.report([intent]);
      }
      await journal.close();`;
    const node = ['--input-type=module', '-e', script];
    const env = { ...process.env, DATABASE: database.url };
    const { status, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8', env });
    expect(status, stderr).toBe(0);
  }

  const keysOf = (journal: Journal): string[] => journal.list(true).map(({ key }) => key);

  function expectOneChain(journal: Journal): void {
    const check = new ChainCheck();
    for (const row of journal.audit.rows()) check.take(recordOfRow(row));
    check.end(journal.recorded());
    expect(check.findings).toEqual([]);
  }

  async function expectWhole(journal: Journal, ...keys: readonly string[]): Promise<void> {
    await journal.checkWhole();
    expect(keysOf(journal).toSorted()).toEqual(keys.toSorted());
    expectOneChain(journal);
    expect(await brokenDatabase(database)).toEqual([]);
  }

  test.each<readonly [string, (file: string) => void]>([
    ['deleted', (file) => rmSync(file)],
    ['deleted without what SQLite keeps beside it', (file) => rmSync(`${file}-wal`, { force: true })],
    ['deleted with its folder', (file) => rmSync(join(file, '..'), { recursive: true })],
    ['no database any more', (file) => writeFileSync(file, 'no database at all')],
    ['empty', (file) => truncateSync(file, 0)],
    ['cut in its middle', (file) => truncateSync(file, 8192)],
    ['spoiled on one of its pages', (file) => spoil(file)],
    ['without one of its rows', (file) => change(file, "DELETE FROM intents WHERE key = 'k1'")],
    ['without all of its rows', (file) => change(file, 'DELETE FROM intents')],
    ['changed in a row', (file) => change(file, "UPDATE intents SET body = replace(body, '100', '900')")],
    [
      'changed where its audit chain ends',
      (file) =>
        change(
          file,
          "DROP TRIGGER audit_keeps; UPDATE audit SET hash = replace(hash, 'a', 'b') WHERE number = (SELECT max(number) FROM audit)",
        ),
    ],
    [
      'without the last of its audit chain',
      (file) =>
        change(
          file,
          'DROP TRIGGER audit_stays; DELETE FROM audit WHERE number = (SELECT max(number) FROM audit)',
        ),
    ],
    ['without its reservations', (file) => change(file, 'DELETE FROM reservations')],
    ['without its facts', (file) => change(file, 'DELETE FROM facts')],
    ['changed in its tally', (file) => change(file, "UPDATE tally SET live = '99'")],
    ['without a table', (file) => change(file, 'DROP TABLE reservations')],
    ['behind what it says', (file) => change(file, 'UPDATE copy SET seq = seq - 1')],
  ])('that is %s is made anew, and nothing is lost or ordered twice', async (_, damage) => {
    // Use a separate process, as in reality: this one would keep the files open.
    placeElsewhere('a');
    damage(fileOf('a'));
    const again = await open('a');
    const rule = { repeatedSince: now() - 600_000 };
    expect(await again.record(intent('k3', 100), rule)).toMatchObject({
      duplicate: { situation: 'repeated' },
    });
    expect(await again.record(intent('k4', 400), rule)).toEqual({ mayBeSent: false });
    await again.refuse('k4', baseUrl, { code: 'no', message: 'no' });
    await expectWhole(again, 'k1', 'k2', 'k4');
    await expectWhole(await open('b'), 'k1', 'k2', 'k4');
  });

  test('that is damaged while it is read is made anew by the next command', async () => {
    placeElsewhere('a');
    change(fileOf('a'), "UPDATE intents SET checksum = 'x'");
    expect((await open('a')).list(true)).toMatchObject([
      { key: 'k1', state: 'reported' },
      { key: 'k2', state: 'reported' },
    ]);
  });

  test('is private, as its folder is', async () => {
    await place(await open('a'), 'k1', 100);
    const folder = copyFolder(join(root, 'a'), addressOf(database));
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
  });

  test('catches up with what others have written, changed and deleted', async () => {
    const [one, other] = [await open('a'), await open('b')];
    for (let index = 0; index < 3; index += 1) {
      await place(one, `a${index}`, 100 + index);
      await place(other, `b${index}`, 200 + index);
    }
    await other.record(intent('open', 1));
    const third = await open('c');
    await expectWhole(third, 'a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'open');
    for (const journal of [one, other, third]) await close(journal);
    expect((await open('d')).unfinished()).toMatchObject({ inDoubt: [{ key: 'open' }] });
  });

  test('of two processes of one folder is one copy, whoever is faster', async () => {
    const all = [await open('a'), await open('a'), await open('a'), await open('b')];
    await Promise.all(
      all.map(async (journal, who) => {
        for (let index = 0; index < 25; index += 1)
          await place(journal, `${who}-${index}`, who * 100 + index);
      }),
    );
    const keys = all.flatMap((_, who) => Array.from({ length: 25 }, (__, index) => `${who}-${index}`));
    for (const machine of ['a', 'b', 'c']) await expectWhole(await open(machine), ...keys);
  });

  test('takes what only one of many at once may do: one records an intent, the others see it', async () => {
    const all = await Promise.all(['a', 'a', 'b', 'b', 'c', 'd'].map(open));
    const rule = { repeatedSince: now() - 600_000 };
    for (let round = 0; round < 10; round += 1) {
      const recorded = await Promise.all(
        all.map((journal, who) => journal.record(intent(`${round}-${who}`, round), rule)),
      );
      expect(recorded.filter(({ duplicate }) => duplicate === undefined)).toHaveLength(1);
    }
  });

  test('of a database that was restored from a backup sends nothing, until somebody decides', async () => {
    const first = await open('a');
    await place(first, 'k1', 100);
    const { name } = database;
    const backup = await dump(database);
    await place(first, 'k2', 200);
    await close(first);
    await restore(backup);
    await expect(open('a')).rejects.toThrow(/earlier state/);
    // It still refuses after other, unaware machines have moved the database past its earlier position.
    const fresh = await open('b');
    for (let index = 0; index < 5; index += 1) await place(fresh, `later-${index}`, 1000 + index);
    await expect(
      open('a').then((journal) => journal.record(intent('k3', 200), { repeatedSince: 0 })),
    ).rejects.toThrow(/earlier state/);
    expect(database.name).toBe(name);
  });

  test('of one database is not taken for that of another at the same address', async () => {
    const first = await open('a');
    await place(first, 'k1', 100);
    await close(first);
    await server().database('postgres').run(`DROP DATABASE ${database.name} WITH (FORCE)`);
    await server().database('postgres').run(`CREATE DATABASE ${database.name} TEMPLATE template1`);
    await expect(open('a')).rejects.toThrow(/made anew/);
    expect(existsSync(fileOf('a'))).toBe(true);
  });

  test('takes texts that PostgreSQL or JSON may stumble over', async () => {
    const journal = await open('a');
    const odd = [
      '\u0000',
      'a\u0000b',
      '\ud800',
      '\udc00x',
      "'; DROP TABLE errand.intents; --",
      '$$',
      '\\',
      '\u{1f600}',
      '\u2028',
    ];
    for (const [index, text] of odd.entries()) {
      const key = `odd-${index}`;
      await journal.record({ ...intent(key, index), body: { max_price: index, note: text } });
      await journal.refuse(key, baseUrl, { code: text, message: `said: ${text}` });
    }
    const elsewhere = await open('b');
    expect(elsewhere.list(true)).toEqual(journal.list(true));
    await expectWhole(elsewhere, ...odd.map((_, index) => `odd-${index}`));
  });

  test('takes a body of several megabytes, and numbers as large as there are', async () => {
    const journal = await open('a');
    const rows = Array.from({ length: 20_000 }, (_, row) => ({ max_price: row, note: 'x'.repeat(150) }));
    await journal.record({ ...intent('huge'), operation: 'bulk.create', body: { filename: 'a.csv', rows } });
    const most = Number.MAX_SAFE_INTEGER;
    await journal.reservations.reserve({
      orders: [
        {
          key: 'most',
          baseUrl,
          account: 'a-fingerprint',
          intent: 'huge',
          cents: most,
          feeCents: 0,
          isRehearsal: false,
          facts: { retailers: [], metadata: [], products: [], address: '' },
        },
      ],
      since: 0,
      admit: () => ({}),
    });
    const elsewhere = await open('b');
    expect(elsewhere.reservations.since(0)).toMatchObject([{ key: 'most', cents: most, counted: most }]);
    expect(elsewhere.get('huge', baseUrl).body).toEqual(journal.get('huge', baseUrl).body);
  });

  test('forgets what others have swept away, also where it was away for longer than that is remembered', async () => {
    const day = 24 * 3600_000;
    let time = Date.now();
    const later = (machine: string) =>
      Journal.open(join(root, machine), () => time, { shared: { address: addressOf(database) } });
    const away = await later('away');
    const journal = await later('a');
    opened.push(journal);
    await place(journal, 'old', 1);
    await away.close();
    for (let index = 0; index < 3; index += 1) {
      time += 31 * day;
      for (let more = 0; more < 64; more += 1) await place(journal, `${index}-${more}`, 1000 + more);
    }
    expect(keysOf(journal)).not.toContain('old');
    const back = await later('away');
    opened.push(back);
    expect(keysOf(back)).toEqual(keysOf(journal));
    // The removal log itself is pruned; a copy that needs the missing part starts over.
    await back.close();
    opened.splice(opened.indexOf(back), 1);
    await database.run("UPDATE errand.removed SET at = now() - interval '40 days'");
    time += 31 * day;
    for (let more = 0; more < 70; more += 1) await place(journal, `last-${more}`, 1000 + more);
    const again = await later('away');
    opened.push(again);
    expect(keysOf(again)).toEqual(keysOf(journal));
    await again.checkWhole();
  });

  test('of the uploads is one for all machines, with names that only one of them has', async () => {
    const shared = { address: addressOf(database) };
    const all = await Promise.all(
      ['a', 'a', 'b', 'c'].map((machine) => Uploads.open(join(root, machine), now, { shared })),
    );
    const owner = { baseUrl, account: 'me' };
    try {
      await Promise.all(
        all.map((uploads, who) =>
          uploads.begin(owner, 'december', {
            identity: `rows-${who}`,
            file: 'december.csv',
            rows: 3,
            source: {},
          }),
        ),
      );
      await all[0]?.saveBatch('batch-1', { headings: ['url'], numbers: [2, 3] }, 1);
      const fresh = await Uploads.open(join(root, 'd'), now, { shared });
      all.push(fresh);
      expect(
        fresh
          .list(owner)
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(['december', 'december-2', 'december-3', 'december-4']);
      expect(fresh.layoutOf('batch-1')).toEqual({ headings: ['url'], numbers: [2, 3] });
    } finally {
      for (const uploads of all) await uploads.close();
    }
  });

  /** Copies the current database for a later restore. */
  async function dump({ name }: TeamDatabase): Promise<string> {
    const kept = `${name}_kept`;
    await server()
      .database('postgres')
      .run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await server().database('postgres').run(`CREATE DATABASE ${kept} TEMPLATE ${name}`);
    return kept;
  }

  async function restore(kept: string): Promise<void> {
    await server().database('postgres').run(`DROP DATABASE ${database.name} WITH (FORCE)`);
    await server().database('postgres').run(`CREATE DATABASE ${database.name} TEMPLATE ${kept}`);
  }
});

function change(file: string, sql: string): void {
  const sqlite = new (loadSqlite())(file);
  sqlite.exec(sql);
  sqlite.close();
}

/** Corrupts the middle of the file, past the header and schema. */
function spoil(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, Math.min(16_384, bytes.length - 4096));
  writeFileSync(file, bytes);
}
