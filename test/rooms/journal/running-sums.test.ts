import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { journalFile, journalMigrations } from '../../../src/journal/journal-tables.ts';
import { type LimitUsage, ListedUsage } from '../../../src/journal/limit-usage.ts';
import type { OrderToReserve } from '../../../src/journal/reservation-row.ts';
import type { Reserving } from '../../../src/journal/reservations.ts';
import type { ReservedFacts, SummedLimit } from '../../../src/journal/summed-limit.ts';
import { openDatabase } from '../../../src/platform/sqlite/open.ts';
import { baseUrl, intent, openJournal } from '../../support/intents.ts';
import { isOnPostgres } from '../../support/store.ts';
import { type Work, workOf } from '../../support/work.ts';

const day = 24 * 3600 * 1000;
const begin = Date.parse('2026-03-01');
const month = { isRehearsal: false, begin, end: begin + 31 * day, retailer: undefined, metadata: [] };
const limits: readonly SummedLimit[] = [
  month,
  { ...month, isRehearsal: true },
  { ...month, begin: begin + 9 * day, end: begin + 10 * day },
  { ...month, retailer: 'shop' },
  { ...month, retailer: 'shop.example' },
  { ...month, metadata: ['m1'] },
  { ...month, retailer: 'shop.example', metadata: ['m2', 'm1'] },
];

const facts: ReservedFacts = {
  retailers: ['shop.example'],
  metadata: ['m1'],
  products: ['p'],
  recipient: 'r',
};

const order = (key: string, cents = 60, more: Partial<OrderToReserve> = {}): OrderToReserve => ({
  ...{ key, baseUrl, account: 'a-fingerprint', intent: key, cents, feeCents: 1, isRehearsal: false, facts },
  ...more,
});

/** Numbers the keys. */
let at = 0;
const next = (): number => {
  at += 1;
  return at;
};
/** An order that counts nothing. */
const look = () => order(`look-${next()}`, 0, { facts: { ...facts, products: [], recipient: '' } });

const reserving = (
  orders: OrderToReserve[],
  decide: (usage: LimitUsage) => void = (usage) => {
    for (const limit of limits) usage.used(limit);
  },
): Reserving => ({
  ...{ orders, since: 0, limits, signers: [] },
  admit: (_, usage) => {
    decide(usage);
    return {};
  },
});

describe('the running sums of limits', () => {
  let folder: string;
  let journal: Journal;
  let now: number;
  beforeEach(async () => {
    now = begin + 9.5 * day;
    folder = mkdtempSync(join(tmpdir(), 'errand-sums-'));
    journal = await openJournal(folder, () => now);
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What a decision is told that each limit has used up. */
  async function used(): Promise<number[]> {
    let found: number[] = [];
    await journal.reservations.reserve(
      reserving([look()], (usage) => {
        found = limits.map((limit) => usage.used(limit));
      }),
    );
    return found;
  }
  const recounted = (): number[] => {
    const all = new ListedUsage(journal.reservations.since(0));
    return limits.map((limit) => all.used(limit));
  };
  const file = () => openDatabase(journalFile(folder), { migrations: journalMigrations });

  test('they are what a recount gives, whatever is reserved, given back and settled', async () => {
    const key = fc.constantFrom('k1', 'k2', 'k3', 'k4');
    const some = (...names: string[]) => fc.subarray(names);
    const step = fc.oneof(
      fc.record({
        do: fc.constant('reserve' as const),
        key,
        cents: fc.nat(1000),
        isRehearsal: fc.boolean(),
        retailers: some('shop', 'shop.example', 'www.shop.example', 'myshop.example', '//shop'),
        metadata: some('m1', 'm2', 'm3'),
      }),
      fc.record({ do: fc.constantFrom('void' as const, 'settle' as const, 'later' as const), key }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const one of steps) {
          if (one.do === 'later') now += day / 3;
          else if (one.do === 'reserve') {
            const { key, cents, isRehearsal, retailers, metadata } = one;
            const more = { isRehearsal, facts: { ...facts, retailers, metadata } };
            await journal.reservations.reserve(reserving([order(key, cents, more)]));
          } else {
            const found = journal.reservations.since(0).find(({ key }) => key === one.key);
            if (!found) continue;
            const end = one.do === 'void' ? { isVoid: true } : { costCents: 7 };
            await journal.reservations.settle([{ reservation: found, ...end }]);
          }
          const before = recounted();
          expect(await used()).toEqual(before);
        }
        expect(journal.reservations.sumProblems()).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  test('a decision costs the same, however many reservations and entries there are', async () => {
    const some = async (count: number): Promise<void> => {
      const more = Array.from({ length: count }, () => order(`k${next()}`));
      await journal.reservations.reserve(reserving(more));
      await journal.reservations.prepare({ limits });
    };
    const one = async (): Promise<Work> => {
      const key = `one-${next()}`;
      await journal.reservations.prepare({ limits });
      return workOf(() =>
        journal.record(
          intent(key, at),
          undefined,
          reserving([order(key)], (usage) => {
            for (const limit of limits) usage.used(limit);
            usage.like([facts], now - day, false);
            usage.using('none');
          }),
        ),
      );
    };
    await some(40);
    await one();
    const [few] = [await one()];
    await some(400);
    await one();
    const many = await one();
    // Where a database is shared, what was entered since the last time is verified, too.
    expect(many.statements).toBeLessThanOrEqual(few.statements + 5);
    expect(many.rows).toBeLessThanOrEqual(few.rows + 5);
    expect(many.scans.filter((scan) => /SCAN (?:reserv|attempts)/.test(scan))).toEqual([
      'SCAN reservation_totals',
    ]);
  });

  test.skipIf(isOnPostgres)(
    'the newest order of a product, or to a recipient, is found, and none that has spent nothing',
    async () => {
      for (const [index, [products, recipient]] of [
        [['p1', 'p2'], 'r1'],
        [['p2'], 'r2'],
        [['p2'], 'r1'],
        [['p3'], 'r3'],
      ].entries() as IterableIterator<[number, [string[], string]]>) {
        now += 1000;
        await journal.reservations.reserve(
          reserving([order(`k${index}`, 60, { facts: { ...facts, products, recipient } })]),
        );
      }
      const like = async (products: string[], recipient: string): Promise<string[]> => {
        let keys: string[] = [];
        await journal.reservations.reserve(
          reserving([look()], (usage) => {
            keys = usage.like([{ products, recipient }], begin, false).map(({ key }) => key);
          }),
        );
        return keys;
      };
      expect(await like(['p2'], 'r2')).toEqual(['k1', 'k2']);
      const newest = journal.reservations.since(0).find(({ key }) => key === 'k2');
      if (newest) await journal.reservations.settle([{ reservation: newest, isVoid: true }]);
      now += 1;
      expect(await like(['p2'], 'r9')).toEqual(['k1']);
      expect(await like(['p9'], 'r1')).toEqual(['k0']);
    },
  );

  test.skipIf(isOnPostgres)('what an earlier version writes counts, too', async () => {
    await journal.reservations.reserve(reserving([order('k1')]));
    const database = await file();
    // What it writes and what it keeps a count of, without a word of sums.
    await database.perform("UPDATE reservations SET counted = counted WHERE key = 'k1'");
    database.close();
    expect(await used()).toEqual(recounted());
    expect((await used())[0]).toBe(60);
  });

  test.skipIf(isOnPostgres).each([
    ['is gone', 'DELETE FROM limit_sums'],
    ['was changed', 'UPDATE limit_sums SET cents = 0'],
    ['was changed to what it is not', "UPDATE limit_sums SET cents = 'x', inverse = 'y'"],
    ['is of another period', 'UPDATE limit_sums SET begins = begins - 1'],
  ])('where a sum %s, a limit counts anew', async (_, damage) => {
    await journal.reservations.reserve(reserving([order('k1')]));
    await journal.reservations.prepare({ limits });
    const database = await file();
    await database.perform(damage);
    database.close();
    expect((await used())[0]).toBe(60);
    expect((await used())[3]).toBe(0);
    expect((await used())[4]).toBe(60);
  });

  test.skipIf(isOnPostgres)('a sum that was changed with its check is named', async () => {
    await journal.reservations.reserve(reserving([order('k1')]));
    await journal.reservations.prepare({ limits });
    const database = await file();
    await database.perform('UPDATE limit_sums SET cents = 1, inverse = -1 WHERE cents > 0');
    database.close();
    expect(journal.reservations.sumProblems()).toContainEqual(
      expect.stringContaining('is 1 cents, and its reservations come to 60'),
    );
    await expect(journal.checkWhole()).rejects.toThrow('is 1 cents, and its reservations come to 60');
  });
});
