import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/format/canonical.ts';
import { ChainCheck } from '../../../src/journal/audit-check.ts';
import { auditColumns, firstPrevious, hashOf, recordOfRow } from '../../../src/journal/audit-record.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import {
  baseUrl,
  inAnotherProcess,
  intent,
  openingIn,
  openJournal,
  paidIntent,
} from '../../support/intents.ts';
import { isOnPostgres } from '../../support/store.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const origin = { actor: 'ada@laptop', job: null, command: 'errand order create --max-price-cents 5000' };
const address = { first_name: 'Ada', last_name: 'Byron', address_line1: '1 Main St', city: 'Austin' };

describe('the audit chain', () => {
  let folder: string;
  let journal: Journal;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-audit-'));
    journal = await openJournal(folder, () => now, { origin: () => origin });
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const chain = () => [...journal.audit.rows()].map(recordOfRow);
  const kinds = () => chain().map(({ kind, key }) => `${kind} ${key}`);

  /** Checks that every record links to the previous one and has the correct hash. */
  function expectOneChain(): void {
    let previous: unknown = firstPrevious;
    for (const [index, record] of chain().entries()) {
      expect(record).toMatchObject({ number: index + 1, previous, hash: hashOf(record) });
      previous = record.hash;
    }
  }

  test('tells of an intent, who sent it and by which command, and names no address', async () => {
    const one = intent('k1');
    await journal.record({ ...one, body: { ...one.body, shipping_address: address } });
    const [record] = chain();
    expect(record).toMatchObject({
      ...origin,
      number: 1,
      time: '2026-03-01T12:00:00.000Z',
      kind: 'intent',
      profile: 'work',
      service: baseUrl,
      key: 'k1',
      order_id: null,
      amount_cents: 5000,
      detail: { operation: 'order.create', account: 'a-fingerprint', again: false, recorded: 1 },
      previous: firstPrevious,
    });
    const text = JSON.stringify(record);
    for (const part of Object.values(address)) expect(text).not.toContain(part);
    const { address: hash } = Object(record?.detail);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    // The hash of an address differs between journals but is stable within one.
    const elsewhere = mkdtempSync(join(tmpdir(), 'errand-audit-'));
    const other = await openJournal(elsewhere, () => now);
    await other.record({ ...one, body: { ...one.body, shipping_address: address } });
    expect(Object(recordOfRow([...other.audit.rows()][0] ?? {}).detail).address).not.toBe(hash);
    await other.close();
    rmSync(elsewhere, { recursive: true });
    await journal.record({
      ...intent('k9', 9),
      body: { ...intent('k9', 9).body, shipping_address: address },
    });
    expect(Object(chain()[1]?.detail).address).toBe(hash);
  });

  test('tells how each attempt ended, in the transaction of what it tells', async () => {
    await journal.record(intent('k1'));
    await journal.leaveInDoubt('k1', baseUrl, 'network_error');
    await journal.respond('k1', baseUrl, 'order-1');
    await journal.respond('k1', baseUrl, 'order-1');
    await journal.record(intent('k2', 2));
    await journal.refuse('k2', baseUrl, { code: 'insufficient_funds', message: 'no' });
    await journal.record(paidIntent('k3', 3));
    await journal.saveCredential('k3', baseUrl, 'a secret');
    await journal.forget('k3', baseUrl);
    expect(kinds()).toEqual([
      'intent k1',
      'in_doubt k1',
      'responded k1',
      'intent k2',
      'refused k2',
      'intent k3',
      'paid k3',
      'given_up k3',
    ]);
    expect(chain()[2]).toMatchObject({ order_id: 'order-1' });
    expect(chain()[4]).toMatchObject({ detail: { code: 'insufficient_funds' } });
    expect(chain()[6]).toMatchObject({ amount_cents: 5100, currency: 'usd', detail: { method: 'sandbox' } });
    expect(JSON.stringify(chain())).not.toContain('a secret');
    expectOneChain();
  });

  test('tells that what another process left in doubt is taken over', async () => {
    inAnotherProcess(folder, now, `await journal.record(${JSON.stringify(intent('k1'))})`);
    await journal.close();
    journal = await openJournal(folder, () => now, { origin: () => origin });
    await journal.claim(journal.get('k1', baseUrl));
    expect(kinds()).toEqual(['intent k1', 'resumed k1']);
    expectOneChain();
  });

  test('sums up what a batch may cost', async () => {
    const rows = [{ max_price: 1000 }, { max_price: '2500' }];
    await journal.record({ ...intent('k1'), operation: 'bulk.create', body: { filename: 'a.csv', rows } });
    expect(chain()[0]).toMatchObject({ amount_cents: 3500 });
  });

  test('is not written where the transaction is undone', async () => {
    await journal.record(intent('k1'));
    await expect(journal.record({ ...intent('k1'), operation: 'return.create' })).rejects.toThrow(/in doubt/);
    expect(kinds()).toEqual(['intent k1']);
  });

  test('stays one chain where processes append at once and one is killed', async () => {
    const { opens, env } = openingIn(folder, now);
    const script = (name: string): string => `${opens}
      for (let index = 0; index < 40; index += 1) {
        const key = '${name}-' + index;
        await journal.record({ ...${JSON.stringify(intent('key', 1))}, key, body: { max_price: index, of: '${name}' } });
        await journal.respond(key, ${JSON.stringify(baseUrl)}, 'order-' + key);
        if ('${name}' === 'killed' && index === 20) process.kill(process.pid, 'SIGKILL');
      }
      journal.close();`;
    const ends = await Promise.all(
      ['one', 'two', 'killed'].map((name) => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script(name)], {
          stdio: 'inherit',
          env,
        });
        return new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
      }),
    );
    expect(ends).toEqual([0, 0, 'SIGKILL']);
    expectOneChain();
    expect(chain()).toHaveLength(2 * (40 + 40 + 21));
  });

  /** Three orders: six records. */
  async function sixRecords(): Promise<void> {
    for (const key of ['k1', 'k2', 'k3']) {
      await journal.record(intent(key, Number(key.slice(1))));
      await journal.respond(key, baseUrl, `order-${key}`);
    }
  }

  test.skipIf(isOnPostgres).each(auditColumns)('names the record whose %s was changed', async (column) => {
    await sixRecords();
    const database = new (loadSqlite())(join(folder, 'journal.db'));
    const changed = ['number', 'amount_cents'].includes(column)
      ? `coalesce(${column}, 0) + 100`
      : `coalesce(substr(${column}, 2), '') || 'x'`;
    database.exec(`DROP TRIGGER audit_keeps; UPDATE audit SET ${column} = ${changed} WHERE number = 4`);
    database.close();
    const check = new ChainCheck();
    for (const record of chain()) check.take(record);
    const found = check.findings.map(({ number, finding }) => `${finding} ${number}`);
    // A renumbered record is missing at its original position.
    expect(found).toEqual(column === 'number' ? ['missing 4', 'changed 104', 'missing 7'] : ['changed 4']);
  });

  test('notices any byte of an export that is changed, at the record in whose line it stands', async () => {
    await sixRecords();
    const lines = chain().map(canonicalJson);
    const findingsOf = (exported: readonly string[]) => {
      const check = new ChainCheck();
      for (const line of exported) check.takeLine(line);
      return check.findings;
    };
    expect(findingsOf(lines)).toEqual([]);
    const line = lines[3] ?? '';
    for (let at = 0; at < line.length; at += 1) {
      const flipped = String.fromCharCode(line.charCodeAt(at) ^ 1);
      const [first] = findingsOf(lines.with(3, line.slice(0, at) + flipped + line.slice(at + 1)));
      expect(first?.number, `${line.slice(0, at)}>${flipped}<`).toBeGreaterThanOrEqual(4);
    }
  });

  test('notices a record that was rewritten with a hash of its own', async () => {
    await sixRecords();
    const records = chain();
    const forged = { ...records[2], actor: 'eve@laptop' };
    const check = new ChainCheck();
    for (const record of records.with(2, { ...forged, hash: hashOf(forged) })) check.take(record);
    expect(check.findings).toMatchObject([{ number: 3, finding: 'replaced' }]);
  });

  test.skipIf(isOnPostgres)('cannot be rewritten by errand itself', async () => {
    await sixRecords();
    const database = new (loadSqlite())(join(folder, 'journal.db'));
    expect(() => database.exec('DELETE FROM audit WHERE number = 6')).toThrow(/only appended/);
    expect(() => database.exec("UPDATE audit SET actor = 'eve'")).toThrow(/only appended/);
    database.close();
  });

  test('records what is seen again and again once, and anew where it differs', async () => {
    await sixRecords();
    const settled = (cents: number) =>
      journal.audit.writeOnce('order-k1', { kind: 'settled', cents, detail: { status: 'order_placed' } });
    for (const cents of [2099, 2099, 2099, 0]) await settled(cents);
    expect(
      chain()
        .map(({ amount_cents: cents }) => cents)
        .slice(6),
    ).toEqual([2099, 0]);
    expectOneChain();
  });
});
