import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { JournalOptions } from '../../../src/journal/journal.ts';
import { Journal } from '../../../src/journal/journal.ts';
import { repairJournal } from '../../../src/journal/repair.ts';
import { DamagedError } from '../../../src/platform/errors.ts';
import { loadSqlite, type Sqlite } from '../../../src/platform/sqlite/load.ts';
import { baseUrl, inAnotherProcess, intent, recordedElsewhere } from '../../support/intents.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const repairing = {
  stamp: 'damaged-now',
  now: () => now,
  origin: () => ({ actor: 'ada@laptop', job: null, command: 'errand order journal repair' }),
};
const recent = { repeatedSince: now - 600_000 };

describe('a journal that was changed on disk', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'errand-damage-'));
    file = join(folder, 'journal.db');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function opened<T>(work: (journal: Journal) => T | Promise<T>, options?: JournalOptions): Promise<T> {
    const journal = await Journal.open(folder, () => now, options);
    try {
      return await work(journal);
    } finally {
      journal.close();
    }
  }

  function change(sql: string): void {
    const database: Sqlite = new (loadSqlite())(file);
    database.exec(sql);
    database.close();
  }

  test.each([
    ['its body', "body = replace(body, '5000', '9000')"],
    ['its state', "state = 'refused'"],
    ['its service', "base_url = 'https://evil.example'"],
    ['its order', "order_id = 'another'"],
    ['its time', "created_at = '2020-01-01T00:00:00.000Z'"],
    ['whose account it is', "account = 'another'"],
    ['its checksum', "checksum = 'x'"],
  ])('in %s: the record is damaged, is never sent, and keeps its place', async (_, set) => {
    recordedElsewhere(folder, now, 'k1');
    change(`UPDATE intents SET ${set}`);
    await opened(async (journal) => {
      expect(journal.list(true)).toMatchObject([
        { state: 'damaged', message: 'the record was changed on disk' },
      ]);
      expect(journal.list()).toHaveLength(1);
      expect(await journal.record(intent('k2'), recent)).toMatchObject({
        duplicate: { situation: 'damaged' },
      });
    });
  });

  test.each(["body = replace(body, '5000', '9000')", "state = 'refused'", "account = 'another'"])(
    'its own key is not sent again: %s',
    async (set) => {
      recordedElsewhere(folder, now, 'k1');
      change(`UPDATE intents SET ${set}`);
      await opened(async (journal) => {
        await expect(journal.record(intent('k1'))).rejects.toThrow(
          'record k1 is damaged; what it says is not sent',
        );
        expect(journal.list(true)).toMatchObject([{ state: 'damaged' }]);
      });
    },
  );

  test('in its key: what it stands for is still found', async () => {
    recordedElsewhere(folder, now, 'k1');
    change("UPDATE intents SET key = 'k9'");
    await opened(async (journal) => {
      expect(journal.find('k1', baseUrl)).toBeUndefined();
      expect(await journal.record(intent('k2'), recent)).toMatchObject({
        duplicate: { situation: 'damaged' },
      });
      await journal.forget('k9', baseUrl);
      expect(await journal.record(intent('k3'), recent)).toEqual({ mayBeSent: false });
    });
  });

  test.each([
    ['a record is gone', 'DELETE FROM intents'],
    ['a record is no longer owed', 'UPDATE intents SET live = 0'],
    ['a record stands for another', 'UPDATE intents SET twin = 1'],
    ['the tally is gone', 'DELETE FROM tally'],
    ['the tally says less', "UPDATE tally SET rows = '0', live = '0', twins = '0'"],
    ['a column is gone', 'DROP INDEX intents_live'],
  ])('so that %s: it is not used, and says so', async (_, sql) => {
    recordedElsewhere(folder, now, 'k1');
    change(sql);
    await opened(async (journal) => {
      expect(() => journal.list()).toThrow(DamagedError);
      await expect(journal.record(intent('k2'), recent)).rejects.toThrow(DamagedError);
    });
  });

  test('by what a text goes on with unseen: the repair keeps what was written', async () => {
    recordedElsewhere(folder, now, 'k1');
    change("UPDATE intents SET key = key || char(0) || 'x'");
    await opened((journal) => expect(journal.checkWhole()).rejects.toThrow(DamagedError));
    expect(await repairJournal(folder, repairing)).toMatchObject({ kept: 1, damaged: [] });
    await opened((journal) => journal.checkWhole());
  });

  test('keeps what a service says with a NUL in it', async () => {
    await opened(async (journal) => {
      await journal.record(intent('k1'));
      await journal.refuse('k1', baseUrl, { code: 'no\0', message: 'not\0now' });
      expect(journal.list(true)).toMatchObject([{ state: 'refused', message: 'not\ufffdnow' }]);
    });
  });

  test('whose last entries are lost with its WAL: it is not used', async () => {
    recordedElsewhere(folder, now, 'k1');
    change('PRAGMA wal_checkpoint(TRUNCATE)');
    recordedElsewhere(folder, now, 'k2', 1);
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`);
    await opened((journal) => expect(() => journal.list()).toThrow(/its last entries are missing/));
  });

  test('that is empty or gone where one was begun is not taken for new', async () => {
    recordedElsewhere(folder, now, 'k1');
    for (const name of readdirSync(folder)) if (!name.endsWith('-seal')) rmSync(join(folder, name));
    await expect(opened(() => {})).rejects.toThrow(/journal.db is empty or gone/);
    rmSync(join(folder, 'journal.db-seal'));
    rmSync(file, { force: true });
    const birth = { since: '2026-02-01T00:00:00.000Z', note: async () => {} };
    await expect(opened(() => {}, { creationMarker: birth })).rejects.toThrow(
      /a journal was begun there at 2026-02-01/,
    );
    // Replace the file: the packaged SQLite releases the previous one only once V8 collects its statements.
    rmSync(file);
    writeFileSync(file, '');
    await expect(opened(() => {}, { creationMarker: birth })).rejects.toThrow(DamagedError);
    rmSync(file);
    await opened((journal) => expect(journal.list()).toEqual([]));
  });

  test('notes its birth once an intent is in it', async () => {
    const noted: string[] = [];
    const birth = { since: undefined, note: async (at: string) => void noted.push(at) };
    await opened((journal) => void journal.list(), { creationMarker: birth });
    expect(noted).toEqual([]);
    await opened(async (journal) => void (await journal.record(intent('k1'))), { creationMarker: birth });
    expect(noted).toEqual([new Date(now).toISOString()]);
  });

  test('a seal that is damaged itself is no reason to refuse', async () => {
    recordedElsewhere(folder, now, 'k1');
    writeFileSync(`${file}-seal`, '000000000999 0000000000000000\n');
    await opened((journal) => expect(journal.list()).toHaveLength(1));
  });

  test('is repaired: what is intact is kept, what is not is set aside, the old file stays', async () => {
    recordedElsewhere(folder, now, 'k1');
    const work = `await journal.record(${JSON.stringify(intent('k2', 2))}); await journal.respond('k2', '${baseUrl}', 'order-2', { apiKey: 'xx_test_1', receipt: undefined })`;
    inAnotherProcess(folder, now, work);
    recordedElsewhere(folder, now, 'k3', 3);
    change("UPDATE intents SET body = '{}' WHERE key = 'k3'; DELETE FROM tally");
    const repaired = await repairJournal(folder, repairing);
    expect(repaired).toMatchObject({
      aside: `${file}.damaged-now`,
      kept: 2,
      damaged: [{ key: 'k3' }],
      recorded: 3,
    });
    expect(existsSync(`${file}.damaged-now`)).toBe(true);
    await opened(async (journal) => {
      const states = journal.list(true).map(({ key, state }) => [key, state]);
      expect(Object.fromEntries(states)).toEqual({ k1: 'intended', k2: 'responded', k3: 'damaged' });
      expect(journal.grants.of('order-2', baseUrl)).toMatchObject({ apiKey: 'xx_test_1' });
      expect(await journal.record(intent('k9', 2), recent)).toMatchObject({
        duplicate: { situation: 'unreported' },
      });
    });
  });

  test('is repaired where it is no database at all', async () => {
    recordedElsewhere(folder, now, 'k1');
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    writeFileSync(file, 'no database at all, whatever it may have been');
    await expect(opened(() => {})).rejects.toThrow(DamagedError);
    expect(await repairJournal(folder, repairing)).toMatchObject({ kept: 0, recorded: 1 });
    await opened((journal) => expect(journal.list()).toEqual([]));
  });
});

describe('a journal of which one page is destroyed', () => {
  test('is repaired, whichever it is: it is whole then, and what is in doubt is known or said to be missing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-pages-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'journal.db');
    const made = await Journal.open(folder, () => now);
    const order = (max_price: number) => intent(`k${max_price}`, max_price);
    for (const price of [1, 2, 3, 4]) await made.record(order(price));
    await made.respond('k1', baseUrl, 'order-1', { apiKey: 'xx_test_1', receipt: undefined });
    await made.refuse('k2', baseUrl, { code: 'no', message: 'no' });
    made.close();
    const checkpoint = new (loadSqlite())(file);
    checkpoint.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    checkpoint.close();
    const whole = readFileSync(file);
    const pages = Array.from({ length: whole.length / 4096 }, (_, page) => page);
    expect(pages.length).toBeGreaterThan(10);
    // A page of the schema: without it, no table can be found.
    const schema = pages.filter(
      (page) => page === 0 || whole.subarray(page * 4096, (page + 1) * 4096).includes('CREATE TABLE'),
    );
    const needed: number[] = [];
    for (const page of pages) {
      const state = mkdtempSync(join(folder, 'page-'));
      const damaged = Buffer.from(whole);
      damaged.fill(0xee, page * 4096, (page + 1) * 4096);
      writeFileSync(join(state, 'journal.db'), damaged);
      copyFileSync(`${file}-seal`, join(state, 'journal.db-seal'));
      if (await isWhole(state)) continue;
      needed.push(page);
      const { damaged: kept, recorded } = await repairJournal(state, repairing);
      const journal = await Journal.open(state, () => now);
      await journal.checkWhole();
      const known = journal.list(true).map(({ key }) => key);
      const isKnown = known.includes('k3') && known.includes('k4');
      const isReported = recorded === 4 && schema.includes(page);
      expect(isKnown || isReported, `page ${page + 1} knows ${known}`).toBe(true);
      if (isKnown) expect(await journal.record(intent('again', 3), recent)).toHaveProperty('duplicate');
      for (const { key } of kept) await journal.forget(key, baseUrl);
      expect(await journal.record(intent('another', 9), recent)).toEqual({ mayBeSent: false });
      journal.close();
    }
    expect(needed).toContain(0);
    expect(needed.length).toBeGreaterThan(8);
  });

  async function isWhole(state: string): Promise<boolean> {
    try {
      const journal = await Journal.open(state, () => now, {});
      try {
        await journal.checkWhole();
        return true;
      } finally {
        journal.close();
      }
    } catch (error) {
      expect(error).toBeInstanceOf(DamagedError);
      return false;
    }
  }
});

describe('a journal of an earlier version', () => {
  test('is taken over: what was open is intended, what was settled is reported', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-upgrade-'));
    const database: Sqlite = new (loadSqlite())(join(folder, 'journal.db'));
    const body = JSON.stringify({
      products: [{ url: 'https://shop.example/1' }],
      max_price: 5000,
      idempotency_key: 'k1',
    });
    database.exec(`
      CREATE TABLE intents (key TEXT NOT NULL, base_url TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL,
        profile TEXT NOT NULL, sent_with TEXT NOT NULL, body_hash TEXT NOT NULL, body TEXT NOT NULL, order_id TEXT, code TEXT,
        message TEXT, pid INTEGER NOT NULL, process_started TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT,
        payment TEXT, credential TEXT, PRIMARY KEY (key, base_url)) STRICT;
      CREATE TABLE grants (order_id TEXT NOT NULL, base_url TEXT NOT NULL, api_key TEXT, receipt TEXT, created_at TEXT NOT NULL,
        PRIMARY KEY (order_id, base_url)) STRICT;
      INSERT INTO intents VALUES ('k1', '${baseUrl}', 'open', 'order.create', 'work', 'xx_test_…a1b2', 'h', '${body}', NULL, NULL,
        NULL, 1, 'x', '2026-03-01T11:00:00.000Z', NULL, NULL, NULL);
      INSERT INTO intents VALUES ('k2', '${baseUrl}', 'settled', 'order.create', 'work', 'xx_test_…a1b2', 'h', '${body}', 'order-2',
        NULL, NULL, 1, 'x', '2026-03-01T10:00:00.000Z', '2026-03-01T10:00:01.000Z', NULL, NULL);
      PRAGMA user_version = 2;`);
    database.close();
    const journal = await Journal.open(folder, () => now);
    expect(journal.list(true)).toMatchObject([
      { key: 'k2', state: 'reported', order_id: 'order-2' },
      { key: 'k1', state: 'intended' },
    ]);
    expect(await journal.record(intent('k3'), recent)).toMatchObject({
      duplicate: { situation: 'other_key', record: { key: 'k1' } },
    });
    journal.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
