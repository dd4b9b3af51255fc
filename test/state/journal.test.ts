import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSqlite } from '../../src/sqlite/load.ts';
import { Journal } from '../../src/state/journal.ts';
import type { Intent } from '../../src/state/journal-record.ts';

const baseUrl = 'https://service.example';
const intent = (key: string, max_price = 5000): Intent => ({
  key,
  operation: 'order.create',
  profile: 'work',
  baseUrl,
  keyMasked: 'xx_test_…a1b2',
  body: { products: [{ url: 'https://shop.example/1' }], max_price, idempotency_key: key },
});

describe('the journal', () => {
  let folder: string;
  let now: number;
  let journal: Journal;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-journal-'));
    now = Date.parse('2026-03-01T12:00:00Z');
    journal = await Journal.open(folder, () => now);
  });
  afterEach(() => {
    journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Writes records from another process, which then dies without a word. */
  function fromAnotherProcess(key: string, max_price = 5000): void {
    const module = new URL('../../src/state/journal.ts', import.meta.url).href;
    const script = `const { Journal } = await import(${JSON.stringify(module)});
      const journal = await Journal.open(${JSON.stringify(folder)}, () => ${now});
      await journal.record(${JSON.stringify(intent(key, max_price))});
      process.kill(process.pid, 'SIGKILL');`;
    const { signal, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script],
      {
        encoding: 'utf8',
      },
    );
    expect(signal, stderr).toBe('SIGKILL');
  }

  test('a record is durable once it is written: kill -9 right after it changes nothing', () => {
    fromAnotherProcess('k1');
    expect(journal.list()).toMatchObject([
      { key: 'k1', state: 'open', base_url: baseUrl, sent_with: 'xx_test_…a1b2' },
    ]);
    expect(journal.countInDoubt()).toBe(1);
  });

  test('settled and refused records are no longer in doubt', async () => {
    await journal.record(intent('k1'));
    await journal.record(intent('k2', 1));
    await journal.settle('k1', baseUrl, 'order-1');
    await journal.refuse('k2', baseUrl, { code: 'url_unreachable', message: 'no' });
    expect(journal.list()).toEqual([]);
    expect(journal.list(true).map(({ state }) => state)).toEqual(['settled', 'refused']);
    expect(journal.settledOrder('k1', baseUrl)).toBe('order-1');
  });

  test('a twin is an open record of the same body at the same service, whose process is gone', () => {
    fromAnotherProcess('k1');
    expect(journal.findTwin(intent('other'), now - 1000)?.key).toBe('k1');
    expect(journal.findTwin(intent('other', 1), now - 1000)).toBeUndefined();
    expect(
      journal.findTwin({ ...intent('other'), baseUrl: 'https://else.example' }, now - 1000),
    ).toBeUndefined();
    expect(journal.findTwin({ ...intent('other'), profile: 'home' }, now - 1000)).toBeUndefined();
    expect(journal.findTwin(intent('other'), now + 1)).toBeUndefined();
  });

  test('a key that is open for another body is refused; for the same body it is taken over', async () => {
    fromAnotherProcess('k1');
    await expect(journal.record(intent('k1', 9999))).rejects.toThrow(/in doubt for another order/);
    expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: true });
    expect(await journal.record(intent('k2', 7))).toEqual({ mayBeSent: false });
  });

  test('a record that a live process works on is left to it', async () => {
    const parent = process.ppid;
    fromAnotherProcess('k1');
    const Database = loadSqlite();
    const database = new Database(join(folder, 'journal.db'));
    database.prepare("UPDATE intents SET pid = ?, process_started = ''").run(parent);
    database.close();
    await expect(journal.claim(journal.get('k1', baseUrl))).rejects.toThrow(
      new RegExp(`process ${parent} is at work`),
    );
    expect(journal.findTwin(intent('other'), now - 1000)).toBeUndefined();
    expect(journal.countInDoubt()).toBe(0);
    await expect(journal.record(intent('impatient'), now - 1000)).rejects.toThrow(
      /is placing the same order/,
    );
    expect(await journal.record(intent('on purpose'))).toEqual({ mayBeSent: false });
  });

  test('what another process has settled since it was read stays settled', async () => {
    fromAnotherProcess('k1');
    const read = journal.get('k1', baseUrl);
    await journal.settle('k1', baseUrl, 'order-1');
    expect(await journal.claim(read)).toMatchObject({ state: 'settled', order_id: 'order-1' });
    await journal.refuse('k1', baseUrl, { code: 'payment_failed', message: 'no' });
    expect(journal.get('k1', baseUrl)).toMatchObject({ state: 'settled', order_id: 'order-1' });
    expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: true });
  });

  test('of a key that two services know, the record of the service in use is meant', async () => {
    const elsewhere = 'https://else.example';
    await journal.record(intent('k1'));
    await journal.record({ ...intent('k1'), baseUrl: elsewhere });
    expect(journal.get('k1', elsewhere).base_url).toBe(elsewhere);
    expect(journal.get('k1', baseUrl).base_url).toBe(baseUrl);
  });

  test('a key that was refused once is in doubt since it was used again', async () => {
    await journal.record(intent('k1'));
    await journal.refuse('k1', baseUrl, { code: 'unavailable', message: 'no' });
    now += 48 * 3_600_000;
    await journal.record(intent('k1'));
    expect(journal.get('k1', baseUrl).created_at).toBe(new Date(now).toISOString());
  });

  test('a key may be shortened while it names one record', async () => {
    await journal.record(intent('abc-1'));
    await journal.record(intent('abd-2', 1));
    expect(journal.get('abc', baseUrl).key).toBe('abc-1');
    expect(() => journal.get('ab', baseUrl)).toThrow(/names 2 records/);
    expect(() => journal.get('zz', baseUrl)).toThrow(/no record/);
  });

  test('settled records are kept for 30 days; what is in doubt is kept for ever', async () => {
    await journal.record(intent('settled'));
    await journal.settle('settled', baseUrl, 'order-1');
    await journal.record(intent('open', 1));
    now += 31 * 24 * 3600 * 1000;
    await journal.record(intent('later', 2));
    expect(journal.list(true).map(({ key }) => key)).toEqual(['open', 'later']);
  });

  test('a clock set back loses nothing', async () => {
    await journal.record(intent('k1'));
    now -= 3_600_000;
    await journal.record(intent('k2', 1));
    await journal.settle('k1', baseUrl, 'order-1');
    expect(journal.list(true).map(({ key, state }) => [key, state])).toEqual([
      ['k2', 'open'],
      ['k1', 'settled'],
    ]);
  });

  test('only its owner can read it', () => {
    expect(statSync(join(folder, 'journal.db')).mode & 0o077).toBe(0);
  });

  test('a damaged journal is named with the remedy, and not touched', async () => {
    const damaged = mkdtempSync(join(folder, 'damaged-'));
    writeFileSync(join(damaged, 'journal.db'), 'no database at all, but it may have been one');
    await expect(Journal.open(damaged, () => now)).rejects.toThrow(
      /journal\.db cannot be used: it is damaged/,
    );
    expect(statSync(join(damaged, 'journal.db')).size).toBe(44);
  });
});
