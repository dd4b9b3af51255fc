import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type IntentRow, withChecksum } from '../../../src/journal/intent-row.ts';
import { IntentTable } from '../../../src/journal/intents.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { journalMigrations } from '../../../src/journal/journal-tables.ts';
import { openDatabase } from '../../../src/platform/sqlite/open.ts';
import {
  baseUrl,
  inAnotherProcess,
  intent,
  openingIn,
  openJournal,
  recordedElsewhere,
} from '../../support/intents.ts';
import { isOnPostgres } from '../../support/store.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('the journal', () => {
  let folder: string;
  let now: number;
  let journal: Journal;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-journal-'));
    now = Date.parse('2026-03-01T12:00:00Z');
    journal = await openJournal(folder, () => now);
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const recent = () => ({ repeatedSince: now - 10 * minute });
  const stateOf = (key: string) => journal.get(key, baseUrl).state;
  const elsewhere = async (key: string, max_price?: number) => {
    recordedElsewhere(folder, now, key, max_price);
    await beginAnew();
  };

  test('a record is durable once it is written: kill -9 right after it changes nothing', async () => {
    await elsewhere('k1');
    expect(journal.list()).toMatchObject([
      { key: 'k1', state: 'intended', base_url: baseUrl, sent_with: 'xx_test_…a1b2' },
    ]);
    expect(journal.unfinished()).toMatchObject({ inDoubt: [{ key: 'k1' }], unreported: [] });
  });

  test('what the service made is owed to the user until it is reported', async () => {
    await journal.record(intent('k1'));
    // `run` omits request bodies: a batch's is large, and a run may place many.
    const { operation } = intent('k1');
    expect(journal.run.all()).toMatchObject([{ key: 'k1', baseUrl, operation, madeId: undefined }]);
    await journal.respond('k1', baseUrl, 'order-1');
    expect(journal.list()).toMatchObject([{ key: 'k1', state: 'responded', order_id: 'order-1' }]);
    expect(journal.run.all()).toMatchObject([{ key: 'k1', madeId: 'order-1' }]);
    await journal.report(journal.run.all());
    expect(journal.list()).toEqual([]);
    expect(journal.run.all()).toEqual([]);
    expect(journal.get('k1', baseUrl)).toMatchObject({ state: 'reported', order_id: 'order-1' });
  });

  test('what was refused or forgotten is owed to nobody', async () => {
    await journal.record(intent('k1'));
    await journal.record(intent('k2', 1));
    await journal.refuse('k1', baseUrl, { code: 'url_unreachable', message: 'no' });
    await journal.forget('k2', baseUrl);
    expect(journal.list()).toEqual([]);
    expect(journal.run.all()).toEqual([]);
    expect(journal.list(true).map(({ state }) => state)).toEqual(['refused', 'forgotten']);
  });

  test.skipIf(isOnPostgres)(
    'the id of what was made is known in this run even where it cannot be written',
    async () => {
      await journal.record(intent('k1'));
      const other = await openDatabase(join(folder, 'journal.db'), { migrations: journalMigrations });
      await other.transaction(() => void other.run("DELETE FROM intents WHERE key = 'k1'"));
      await other.close();
      await expect(journal.respond('k1', baseUrl, 'order-1')).rejects.toThrow(/the record of k1 is missing/);
      expect(journal.run.all()).toMatchObject([{ key: 'k1', madeId: 'order-1' }]);
    },
  );

  describe('the same intent under another key', () => {
    test('is in doubt where its process is gone, and taken over', async () => {
      await elsewhere('k1');
      expect(await journal.record(intent('k2'), recent())).toMatchObject({
        duplicate: { situation: 'in_doubt', record: { key: 'k1', pid: process.pid } },
      });
      expect(journal.run.all()).toMatchObject([{ key: 'k1', madeId: undefined }]);
      expect(() => journal.get('k2', baseUrl)).toThrow(/no record/);
    });

    test('does not expire: a week later it is in doubt as it was', async () => {
      await elsewhere('k1');
      now += 7 * 24 * hour;
      expect(await journal.record(intent('k2'), recent())).toMatchObject({
        duplicate: { situation: 'in_doubt' },
      });
    });

    test('was made and never reported where its process ended in between', async () => {
      const work = `await journal.record(${JSON.stringify(intent('k1'))}); await journal.respond('k1', '${baseUrl}', 'order-1')`;
      inAnotherProcess(folder, now, work);
      await beginAnew();
      expect(journal.unfinished()).toMatchObject({ inDoubt: [], unreported: [{ key: 'k1' }] });
      expect(await journal.record(intent('k2'), { repeatedSince: undefined })).toMatchObject({
        duplicate: { situation: 'unreported', record: { order_id: 'order-1' } },
      });
      expect(journal.run.all()).toMatchObject([{ key: 'k1', madeId: 'order-1' }]);
    });

    test('is a repeated command for a while after it was reported', async () => {
      await journal.record(intent('k1'));
      await journal.respond('k1', baseUrl, 'order-1');
      await journal.report(journal.run.all());
      now += 10 * minute;
      expect(await journal.record(intent('k2'), recent())).toMatchObject({
        duplicate: { situation: 'repeated', record: { key: 'k1', order_id: 'order-1' } },
      });
      expect(await journal.record(intent('k3'), { repeatedSince: undefined })).toEqual({ mayBeSent: false });
      now += 1;
      await journal.forget('k3', baseUrl);
      expect(await journal.record(intent('k4'), recent())).toEqual({ mayBeSent: false });
    });

    test('is a repeated command where its time lies in the future', async () => {
      await journal.record(intent('k1'));
      await journal.respond('k1', baseUrl, 'order-1');
      await journal.report(journal.run.all());
      now -= 48 * hour;
      expect(await journal.record(intent('k2'), recent())).toMatchObject({
        duplicate: { situation: 'repeated' },
      });
    });

    // For leases, see test/postgres.
    test.skipIf(isOnPostgres)('is at work where its process lives', async () => {
      await elsewhere('k1');
      await ownedBy(process.ppid);
      const situation = async () => (await journal.record(intent('k2'), recent())).duplicate?.situation;
      expect(await situation()).toBe('at_work');
      await expect(journal.claim(journal.get('k1', baseUrl))).rejects.toThrow(/is at work on k1/);
      expect(journal.unfinished()).toMatchObject({ inDoubt: [], unreported: [] });
      expect(await journal.record(intent('on purpose'))).toEqual({ mayBeSent: false });
    });

    test.runIf(isOnPostgres)('is at work until its lease ends, which is told', async () => {
      inAnotherProcess(folder, now, `await journal.record(${JSON.stringify(intent('k1'))})`, true);
      await beginAnew();
      const situation = async () => (await journal.record(intent('k2'), recent())).duplicate?.situation;
      expect(await situation()).toBe('at_work');
      await expect(journal.claim(journal.get('k1', baseUrl))).rejects.toMatchObject({
        message: expect.stringMatching(/^process \d+ on \S+ is at work on k1$/),
        facts: { hint: expect.stringMatching(/ Should it be gone, its lease ends in 1[0-5]\d s\.$/) },
      });
    });

    test.runIf(isOnPostgres)('is in doubt at once where its process was one of this machine', async () => {
      const { opens, env } = openingIn(folder, now);
      const script = `${opens} await journal.record(${JSON.stringify(intent('k1'))}); process.kill(process.pid, 'SIGKILL');`;
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { env });
      await beginAnew();
      expect(await journal.record(intent('k2'), recent())).toMatchObject({
        duplicate: { situation: 'in_doubt' },
      });
    });

    test.each([
      ['another ceiling', intent('k2', 1)],
      ['another service', { ...intent('k2'), baseUrl: 'https://else.example' }],
      [
        'another account',
        { ...intent('k2'), account: 'another', keyMasked: 'xx_test_…ffff', profile: 'home' },
      ],
      ['another operation', { ...intent('k2'), operation: 'agent.order.create' }],
    ])('is not the same with %s', async (_, other) => {
      await elsewhere('k1');
      expect(await journal.record(other, recent())).toEqual({ mayBeSent: false });
    });

    test('is not sent with another key of the same profile: whose account that is nobody knows', async () => {
      await elsewhere('k1');
      const other = { ...intent('k2'), account: 'another', keyMasked: 'xx_test_…ffff' };
      expect(await journal.record(other, recent())).toMatchObject({ duplicate: { situation: 'other_key' } });
      await journal.forget('k1', baseUrl);
      expect(await journal.record(other, recent())).toEqual({ mayBeSent: false });
    });

    test('is the same under another profile name', async () => {
      await elsewhere('k1');
      const other = { ...intent('k2'), profile: 'home' };
      expect(await journal.record(other, recent())).toMatchObject({ duplicate: { situation: 'in_doubt' } });
    });
  });

  test('a key that is in doubt for other content is refused; for the same it is taken over', async () => {
    await elsewhere('k1');
    await expect(journal.record(intent('k1', 9999))).rejects.toThrow(/in doubt for another order/);
    expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: true });
    expect(await journal.record(intent('k2', 7))).toEqual({ mayBeSent: false });
  });

  test('a key of the user that another process was faster with is not used again, for the same or for another order', async () => {
    const chosen = { ...intent('k1'), keyOrigin: 'chosen' } as const;
    await journal.record(chosen);
    await journal.respond('k1', baseUrl, 'order-1');
    const made = { situation: 'made', record: { key: 'k1', order_id: 'order-1' } };
    expect(await journal.record(chosen)).toMatchObject({ duplicate: made });
    expect(await journal.record({ ...intent('k1', 1), keyOrigin: 'chosen' })).toMatchObject({
      duplicate: made,
    });
    expect(journal.get('k1', baseUrl)).toMatchObject({ state: 'responded', order_id: 'order-1' });
    // Sent with another API key, it may belong to another account.
    const other = { ...chosen, account: 'another', keyMasked: 'another' };
    expect(await journal.record(other)).toMatchObject({ mayBeSent: false });
  });

  test('what another process has settled since it was read stays settled', async () => {
    await elsewhere('k1');
    const read = journal.get('k1', baseUrl);
    await journal.respond('k1', baseUrl, 'order-1');
    expect(await journal.claim(read)).toMatchObject({ state: 'responded', order_id: 'order-1' });
    await journal.refuse('k1', baseUrl, { code: 'payment_failed', message: 'no' });
    await journal.forget('k1', baseUrl);
    expect(journal.get('k1', baseUrl)).toMatchObject({ state: 'responded', order_id: 'order-1' });
    expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: true });
  });

  test('of a key that two services know, the record of the service in use is meant', async () => {
    const other = 'https://else.example';
    await journal.record(intent('k1'));
    await journal.record({ ...intent('k1'), baseUrl: other });
    expect(journal.get('k1', other).base_url).toBe(other);
    expect(journal.get('k1', baseUrl).base_url).toBe(baseUrl);
  });

  test('a key that was refused once is in doubt since it was used again', async () => {
    await journal.record(intent('k1'));
    await journal.refuse('k1', baseUrl, { code: 'unavailable', message: 'no' });
    now += 48 * hour;
    await journal.record(intent('k1'));
    expect(journal.get('k1', baseUrl).created_at).toBe(new Date(now).toISOString());
  });

  test('a key that is resumed is as old as its first use', async () => {
    await elsewhere('k1');
    const { created_at: first } = journal.get('k1', baseUrl);
    now += hour;
    await journal.record(intent('k1'));
    expect(journal.get('k1', baseUrl).created_at).toBe(first);
  });

  test('a key may be shortened while it names one record', async () => {
    await journal.record(intent('abc-1'));
    await journal.record(intent('abd-2', 1));
    expect(journal.get('abc', baseUrl).key).toBe('abc-1');
    expect(() => journal.get('ab', baseUrl)).toThrow(/names 2 records/);
    expect(() => journal.get('zz', baseUrl)).toThrow(/no record/);
  });

  test('what was reported is kept for 30 days; what is owed is kept for ever', async () => {
    await journal.record(intent('reported'));
    await journal.respond('reported', baseUrl, 'order-1');
    await journal.report(journal.run.all());
    await elsewhere('open', 1);
    const owed = `await journal.record(${JSON.stringify(intent('owed', 2))}); await journal.respond('owed', '${baseUrl}', 'order-2')`;
    inAnotherProcess(folder, now, owed);
    await beginAnew();
    now += 31 * 24 * hour;
    await fill('later', 70);
    now += 31 * 24 * hour;
    await fill('latest', 70);
    const keys = journal.list(true).map(({ key }) => key);
    expect(keys.slice(0, 2)).toEqual(['open', 'owed']);
    expect(keys).not.toContain('reported');
    expect(keys.length).toBeLessThan(150);
    expect(stateOf('open')).toBe('intended');
  });

  test('a clock set back loses nothing', async () => {
    await journal.record(intent('k1'));
    now -= hour;
    await journal.record(intent('k2', 1));
    await journal.respond('k1', baseUrl, 'order-1');
    expect(journal.list().map(({ key, state }) => [key, state])).toEqual([
      ['k2', 'intended'],
      ['k1', 'responded'],
    ]);
  });

  test.skipIf(isOnPostgres)('only its owner can read it', () => {
    expect(statSync(join(folder, 'journal.db')).mode & 0o077).toBe(0);
  });

  test.skipIf(isOnPostgres)(
    'a file that is no database is named with the remedy, and not touched',
    async () => {
      const damaged = mkdtempSync(join(folder, 'damaged-'));
      writeFileSync(join(damaged, 'journal.db'), 'no database at all, but it may have been one');
      await expect(openJournal(damaged, () => now)).rejects.toThrow(
        /journal\.db cannot be used: it is damaged/,
      );
      expect(statSync(join(damaged, 'journal.db')).size).toBe(44);
    },
  );

  /** Reopens the journal: a local copy of a shared database is updated on open. */
  async function beginAnew(): Promise<void> {
    if (!isOnPostgres) return;
    await journal.close();
    journal = await openJournal(folder, () => now);
  }

  /** Records and reports that many orders. */
  async function fill(name: string, count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      await journal.record(intent(`${name}-${at}`, 1000 + at));
      await journal.respond(`${name}-${at}`, baseUrl, `order-${name}-${at}`);
    }
    await journal.report(journal.run.all());
  }

  /** Makes another process the owner of every record. */
  async function ownedBy(pid: number): Promise<void> {
    const database = await openDatabase(join(folder, 'journal.db'), { migrations: journalMigrations });
    const table = new IntentTable(database);
    await database.transaction(() => {
      for (const row of table.all())
        table.write(withChecksum({ ...row, pid, process_started: '' } satisfies IntentRow), row);
    });
    database.close();
  }
});
