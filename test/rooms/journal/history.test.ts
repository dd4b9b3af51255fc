import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttemptScope } from '../../../src/journal/attempts.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { journalFile } from '../../../src/journal/journal-tables.ts';
import { inDoubtSql, madeSql, peekInDoubt, peekMade } from '../../../src/journal/peek.ts';
import { needOf } from '../../../src/orders/needs/need.ts';
import { referenceOf } from '../../../src/orders/needs/reference.ts';
import { openReader } from '../../../src/platform/sqlite/load.ts';
import { baseUrl, intent, openJournal } from '../../support/intents.ts';
import { orderBody } from '../../support/order-body.ts';
import { workOf } from '../../support/work.ts';

describe('a long journal', () => {
  let folder: string;
  let journal: Journal;
  let now = Date.parse('2026-03-01T12:00:00Z');
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-history-'));
    journal = await openJournal(folder, () => now);
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  let at = 0;
  const place = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 1) {
      at += 1;
      now += 1000;
      await journal.record(intent(`key-${at}`, at));
      await journal.respond(`key-${at}`, baseUrl, `${at}-order`);
    }
  };

  /** What a statement does, as `EXPLAIN QUERY PLAN` says it. */
  function planOf(sql: string): string {
    const reader = openReader(journalFile(folder));
    const rows = reader.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    reader.close();
    return rows.map((row) => String(Object(row).detail)).join('; ');
  }

  test('a TAB reads the newest records by an index, and those in doubt alone where it offers these', async () => {
    await place(30);
    now += 1000;
    await journal.record(intent('in-doubt', 9999));
    await place(5);
    const made = { operations: ['order.create', 'legacy.retry'], prefix: '', limit: 3 };
    const newest = [at, at - 1, at - 2].map((number) => `${number}-order`);
    expect(peekMade(folder, baseUrl, made).map(({ id }) => id)).toEqual(newest);
    expect(peekMade(folder, baseUrl, { ...made, prefix: '7-', limit: -1 }).map(({ id }) => id)).toEqual([
      '7-order',
    ]);
    expect(peekInDoubt(folder, baseUrl, 3).map(({ id }) => id)).toEqual(['in-doubt']);
    expect(planOf(madeSql(''))).toMatch(
      /^SEARCH intents USING INDEX intents_newest \(base_url=\? AND operation=\?\)$/,
    );
    expect(planOf(madeSql('7'))).toContain(
      'SEARCH intents USING INDEX intents_made (order_id>? AND order_id<?)',
    );
    expect(planOf(inDoubtSql)).toContain('intents_live');
  });

  test('an order runs the same statements and reads as many rows after 300 others as after 30', async () => {
    const one = () => {
      at += 1;
      return workOf(() => journal.record(intent(`key-${at}`, at)));
    };
    await place(29);
    const few = await one();
    await place(300);
    const many = await one();
    expect([many.statements, many.rows]).toEqual([few.statements, few.rows]);
  });

  test('the need of an order is looked for by indexes, among 600 attempts as among 30', async () => {
    const attempts = await journal.attempts();
    const scope: AttemptScope = { service: baseUrl, accounts: ['user 1'], isTest: false };
    const claim = (count: number) => {
      const needs = Array.from({ length: count }, () => {
        at += 1;
        const products = [{ url: `https://shop.example/p/${at}` }, { url: `https://shop.example/q/${at}` }];
        return needOf({ ...orderBody(''), products }, referenceOf(`R-${at}`));
      });
      return attempts.claim(scope, needs, (_, index) => ({
        ...{ run: undefined, number: 1, key: `key-${at}-${index}`, operation: 'order.create' },
        ...{ upload: undefined, orderId: undefined, state: 'intended', madeAt: now, seenAt: undefined },
      }));
    };
    await claim(30);
    const few = await workOf(() => claim(1));
    await claim(570);
    const many = await workOf(() => claim(1));
    expect(many).toEqual(few);
    // One row, and lists of values that the statement is given.
    expect(many.scans.filter((scan) => !/^SCAN (?:requested|json_each) VIRTUAL TABLE/.test(scan))).toEqual([
      'SCAN attempt_parts USING COVERING INDEX attempt_parts_part',
    ]);
  });

  test('audit verify reads each entry once, page by page', async () => {
    await place(600);
    let count = 0;
    const work = await workOf(async () => {
      for (const { record, isExact, expected } of journal.audit.checkedRecords()) {
        count += 1;
        expect([isExact, record.hash]).toEqual([true, expected]);
      }
    });
    expect([count, work.rows, work.statements]).toEqual([1200, 1200, 3]);
  });
});
