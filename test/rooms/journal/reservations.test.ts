import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApprovals } from '../../../src/journal/approval-row.ts';
import { recordOfRow } from '../../../src/journal/audit-record.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { journalFile, journalMigrations } from '../../../src/journal/journal-tables.ts';
import { repairJournal } from '../../../src/journal/repair.ts';
import type { OrderToReserve } from '../../../src/journal/reservation-row.ts';
import type { Reserving } from '../../../src/journal/reservations.ts';
import { DamagedError } from '../../../src/platform/errors.ts';
import { openDatabase } from '../../../src/platform/sqlite/open.ts';
import { baseUrl, inAnotherProcess, intent, openJournal } from '../../support/intents.ts';
import { isOnPostgres } from '../../support/store.ts';

const day = 24 * 3600 * 1000;
const now = Date.parse('2026-03-01T12:00:00Z');

const order = (key: string, cents: number, of = key): OrderToReserve => ({
  key,
  baseUrl,
  account: 'a-fingerprint',
  intent: of,
  cents,
  feeCents: 100,
  isRehearsal: false,
  facts: { retailers: [], metadata: [], products: [], address: '' },
});

const everything = { isRehearsal: false, begin: 0, end: 1e15, retailer: undefined, metadata: [] };

/** Admits orders up to a total. */
const upTo = (most: number, ...orders: OrderToReserve[]): Reserving => ({
  orders,
  since: 0,
  limits: [everything],
  admit: (fresh, standing) => {
    const sum = fresh.reduce((cents, one) => cents + one.cents, standing.used(everything));
    if (sum > most) throw new Error(`${sum} is over ${most}`);
    return {};
  },
});

describe('reservations', () => {
  let folder: string;
  let journal: Journal;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-reservations-'));
    journal = await openJournal(folder, () => now);
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const counted = () =>
    Object.fromEntries(
      journal.reservations.since(0).map(({ key, state, counted: cents }) => [key, [state, cents]]),
    );

  test('what is not let through leaves nothing behind, neither money nor intent', async () => {
    await journal.record(intent('k1'), undefined, upTo(100, order('k1', 60)));
    await expect(journal.record(intent('k2', 1), undefined, upTo(100, order('k2', 41)))).rejects.toThrow(
      '101 is over 100',
    );
    expect(counted()).toEqual({ k1: ['held', 60] });
    expect(journal.find('k2', baseUrl)).toBeUndefined();
  });

  test('a key is reserved for once, and again once it was given back, and for the difference where it is dearer', async () => {
    await journal.record(intent('k1'), undefined, upTo(100, order('k1', 60)));
    await journal.reservations.reserve(upTo(0, order('k1', 60)));
    await expect(journal.reservations.reserve(upTo(100, order('k1', 101)))).rejects.toThrow(
      '101 is over 100',
    );
    await journal.refuse('k1', baseUrl, { code: 'no', message: 'no' });
    expect(counted()).toEqual({ k1: ['released', 0] });
    await journal.record(intent('k1'), undefined, upTo(100, order('k1', 70)));
    expect(counted()).toEqual({ k1: ['held', 70] });
  });

  test.skipIf(isOnPostgres).each([
    ['all are gone', 'DELETE FROM reservations'],
    ['one is gone', "DELETE FROM reservations WHERE key = 'k1'"],
    ['one was moved to another time', "UPDATE reservations SET at = 0 WHERE key = 'k1'"],
    ['a text goes on unseen', "UPDATE reservations SET account = account || char(0) || 'x' WHERE key = 'k1'"],
    ['their count was changed', "UPDATE facts SET value = '1 1 x' WHERE name = 'reservations'"],
  ])('where %s, nothing is let through', async (_, damage) => {
    for (const key of ['k1', 'k2']) await journal.record(intent(key), undefined, upTo(200, order(key, 60)));
    const database = await openDatabase(journalFile(folder), { migrations: journalMigrations });
    await database.perform(damage);
    database.close();
    expect(() => journal.reservations.since(0)).toThrow(DamagedError);
    await expect(journal.checkWhole()).rejects.toThrow(DamagedError);
    await expect(journal.record(intent('k3'), undefined, upTo(1000, order('k3', 60)))).rejects.toThrow(
      DamagedError,
    );
    expect(journal.find('k3', baseUrl)).toBeUndefined();
  });

  test('the reason of an override is kept without keys, emails and phone numbers', async () => {
    const reason =
      'Ada said so on 2026-03-01: $51.00, zz_live_0123456789abcdef, ada@mail.example, +1 (512) 555-0100';
    await journal.record(intent('k1'), undefined, {
      ...upTo(0, order('k1', 60)),
      admit: () => ({ override: reason }),
    });
    const [record] = [...journal.audit.rows()].map(recordOfRow);
    const kept = 'Ada said so on 2026-03-01: $51.00, zz_live_[redacted], [redacted], [redacted]';
    expect(record).toMatchObject({ kind: 'override', detail: { reason: kept } });
    expect(journal.reservations.since(0)).toMatchObject([{ override: kept }]);
  });

  test.skipIf(isOnPostgres)(
    'a repair counts orders of the audit chain in the place of reservations that are lost',
    async () => {
      const approved: Reserving = { ...upTo(500, order('k1', 60)), admit: () => ({ approval: 'a1' }) };
      await journal.record(intent('k1'), undefined, approved);
      for (const key of ['k2', 'k3']) await journal.record(intent(key), undefined, upTo(500, order(key, 60)));
      await journal.respond('k1', baseUrl, 'order-1');
      await journal.refuse('k2', baseUrl, { code: 'no', message: 'no' });
      const database = await openDatabase(journalFile(folder), { migrations: journalMigrations });
      await database.perform("DELETE FROM reservations WHERE key <> 'k3'");
      database.close();
      await journal.close();
      const origin = () => ({ actor: 'ada', job: null, command: 'errand order journal repair' });
      const repaired = await repairJournal(folder, { stamp: 'damaged', now: () => now, origin });
      expect(repaired.reservations).toEqual({ lost: 2, madeUp: 1 });
      journal = await openJournal(folder, () => now);
      await journal.checkWhole();
      expect(counted()).toEqual({ k1: ['held', 5000], k3: ['held', 60] });
      expect(journal.reservations.since(0)[0]).toMatchObject({ orderId: 'order-1', approval: 'a1' });
    },
  );

  test('what is given up, or has led to an order, stays', async () => {
    await journal.record(intent('k1'), undefined, upTo(200, order('k1', 60)));
    await journal.record(intent('k2', 1), undefined, upTo(200, order('k2', 60)));
    await journal.forget('k1', baseUrl);
    await journal.respond('k2', baseUrl, 'order-2');
    expect(counted()).toEqual({ k1: ['held', 60], k2: ['held', 60] });
    expect(journal.reservations.since(0).find(({ key }) => key === 'k2')?.orderId).toBe('order-2');
  });

  test('what an order was made of stays reserved, though its key is refused to a later attempt', async () => {
    await journal.record(intent('k1'), undefined, upTo(200, order('k1', 60)));
    await journal.respond('k1', baseUrl, 'order-1');
    await journal.record(intent('k1'), undefined, upTo(200, order('k1', 60)));
    await journal.refuse('k1', baseUrl, { code: 'no', message: 'no' });
    expect(counted()).toEqual({ k1: ['held', 60] });
  });

  test('a row that two batches may order is given back once neither may', async () => {
    await journal.record(intent('b1', 1), undefined, upTo(100, order('row', 60, 'b1')));
    await journal.record(intent('b2', 2), undefined, upTo(100, order('row', 60, 'b2')));
    await journal.refuse('b1', baseUrl, { code: 'no', message: 'no' });
    expect(counted()).toEqual({ row: ['held', 60] });
    await journal.refuse('b2', baseUrl, { code: 'no', message: 'no' });
    expect(counted()).toEqual({ row: ['released', 0] });
  });

  test('what was reserved and never recorded is given back by whoever reserved it, or after its death', async () => {
    await journal.reservations.reserve(upTo(100, order('k1', 30), order('k2', 30)));
    await journal.record(intent('k2', 1), undefined, upTo(100, order('k2', 30)));
    await journal.reservations.giveBackUnsent(['k1', 'k2'], baseUrl, 'a-fingerprint');
    expect(counted()).toEqual({ k1: ['released', 0], k2: ['held', 30] });
    const orders = JSON.stringify([order('k3', 30), order('k4', 30)]);
    inAnotherProcess(
      folder,
      now,
      `const orders = ${orders};
       await journal.reservations.reserve({ orders, since: 0, admit: () => ({}) });
       await journal.record(${JSON.stringify(intent('k4', 4))}, undefined, { orders: [orders[1]], since: 0, admit: () => ({}) })`,
    );
    expect(await journal.reservations.giveBackAbandoned()).toBe(1);
    expect(counted()).toEqual({
      k1: ['released', 0],
      k2: ['held', 30],
      k3: ['released', 0],
      k4: ['held', 30],
    });
  });

  test('they are kept for 400 days', async () => {
    await journal.reservations.reserve(upTo(100, order('k1', 1)));
    await journal.close();
    journal = await openJournal(folder, () => now + 400 * day);
    await journal.reservations.reserve(upTo(100, order('k2', 1)));
    expect(Object.keys(counted())).toEqual(['k1', 'k2']);
    await journal.close();
    journal = await openJournal(folder, () => now + 400 * day + 1);
    await journal.reservations.reserve(upTo(100, order('k3', 1)));
    expect(Object.keys(counted())).toEqual(['k2', 'k3']);
  });

  test.skipIf(isOnPostgres)(
    'one that was changed on disk lets nothing through, and counts in full once the journal is repaired',
    async () => {
      await journal.record(intent('k1'), undefined, upTo(100, order('k1', 60)));
      await journal.close();
      const database = await openDatabase(journalFile(folder), { migrations: journalMigrations });
      await database.transaction(() => {
        database.run("UPDATE reservations SET counted = 1, state = 'settled'");
      });
      database.close();
      journal = await openJournal(folder, () => now);
      await expect(journal.record(intent('k2', 1), undefined, upTo(100, order('k2', 1)))).rejects.toThrow(
        'the reservation of k1 was changed',
      );
      await journal.close();
      await repairJournal(folder, {
        stamp: 'aside',
        now: () => now,
        origin: () => ({ actor: 'ada', job: null, command: '' }),
      });
      journal = await openJournal(folder, () => now);
      expect(counted()).toEqual({ k1: ['held', 60] });
      expect(await journal.reservations.giveBackAbandoned()).toBe(0);
    },
  );

  test.skipIf(isOnPostgres)(
    'those of a journal from before there were approvals stand, and can be written',
    async () => {
      await journal.reservations.reserve(upTo(100, order('k1', 60)));
      await journal.close();
      const before = journalMigrations.indexOf(createApprovals);
      const database = await openDatabase(journalFile(folder), { migrations: journalMigrations });
      await database.transaction(() => {
        const attempts = ['attempts', 'attempt_accounts', 'attempt_parts', 'attempt_settings'];
        for (const later of [...attempts, 'quotes', 'facts', 'approvals'])
          database.run(`DROP TABLE ${later}`);
        database.run('DROP INDEX reservations_approval');
        database.run('ALTER TABLE reservations DROP COLUMN approval');
        database.run(`PRAGMA user_version = ${before}`);
      });
      database.close();
      journal = await openJournal(folder, () => now);
      expect(counted()).toEqual({ k1: ['held', 60] });
      const approved: Reserving = { ...upTo(100, order('k2', 30)), admit: () => ({ approval: 'a1' }) };
      await journal.reservations.reserve(approved);
      const approvals = await journal.reservations.approvals();
      expect(approvals.usesOf('a1')).toEqual([{ key: 'k2', orderId: undefined, cents: 30 }]);
      await journal.reservations.giveBackUnsent(['k2'], baseUrl, 'a-fingerprint');
      expect(approvals.usesOf('a1')).toEqual([]);
    },
  );
});
