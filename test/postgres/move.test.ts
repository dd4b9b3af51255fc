import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AttemptNeed, AttemptScope, NewAttempt } from '../../src/journal/attempts.ts';
import { nobody } from '../../src/journal/audit-entry.ts';
import { Journal } from '../../src/journal/journal.ts';
import type { Intent } from '../../src/journal/journal-record.ts';
import { moveJournal } from '../../src/journal/postgres/move.ts';
import { needOf } from '../../src/orders/needs/need.ts';
import { referenceOf } from '../../src/orders/needs/reference.ts';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { baseUrl, inAnotherProcess, intent, paidIntent } from '../support/intents.ts';
import { orderBody, rowBody } from '../support/order-body.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { errand, shell } from '../support/run.ts';
import { errorOf } from '../support/shopping.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { workElsewhere } from './elsewhere.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

/** A reservation that admits an order. */
const reserving = (key: string) => ({
  orders: [
    {
      ...{
        key,
        baseUrl,
        account: 'a-fingerprint',
        intent: key,
        cents: 5100,
        feeCents: 100,
        isRehearsal: false,
      },
      facts: { retailers: [], metadata: [], products: [], address: '' },
    },
  ],
  since: 0,
  admit: () => ({}),
});

describe.runIf(hasPostgres)("a machine's own journal, once a database is named", () => {
  const server = useServer();
  let team: TeamDatabase;
  let folder: string;

  beforeEach(async () => {
    team = await server().newDatabase();
    folder = mkdtempSync(join(tmpdir(), 'errand-move-'));
    const grant = { apiKey: 'xx_live_a-temporary-key-of-one-order', receipt: undefined };
    // Left by a killed command: one order in doubt, one placed but unreported, one done.
    inAnotherProcess(
      folder,
      now,
      `const reserving = { ...${JSON.stringify(reserving('k1'))}, admit: () => ({}) };
       await journal.record(${JSON.stringify(intent('k1'))}, undefined, reserving);
       await journal.record(${JSON.stringify(paidIntent('k2'))});
       await journal.saveCredential('k2', '${baseUrl}', 'a payment');
       await journal.respond('k2', '${baseUrl}', 'order-2', ${JSON.stringify(grant)});
       await journal.record(${JSON.stringify(intent('k3', 1))});
       await journal.respond('k3', '${baseUrl}', 'order-3');
       await journal.report([{ key: 'k3', baseUrl: '${baseUrl}' }]);`,
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const sharing = () => ({ address: { url: team.url, shown: 'team' } });
  const move = (isPreview = false) =>
    moveJournal(folder, sharing(), {
      now: () => now,
      origin: () => nobody,
      macFor: () => undefined,
      isPreview,
    });
  const inTeam = async () => {
    const rows = await team.rows<Record<string, unknown>>('SELECT * FROM errand.intents ORDER BY key');
    return rows.map(({ key, state, order_id: id }) => [key, state, id]);
  };
  const kindsIn = async () =>
    (await team.rows<{ kind: string }>('SELECT kind FROM errand.audit ORDER BY number')).map(
      ({ kind }) => kind,
    );
  async function own<T>(look: (journal: Journal) => T | Promise<T>): Promise<T> {
    const journal = await Journal.open(folder, () => now);
    try {
      return await look(journal);
    } finally {
      await journal.close();
    }
  }
  async function shared<T>(look: (journal: Journal) => T | Promise<T>): Promise<T> {
    const journal = await Journal.open(folder, () => now, { shared: sharing() });
    try {
      return await look(journal);
    } finally {
      await journal.close();
    }
  }
  const moved = [
    ['k1', 'intended', null],
    ['k2', 'responded', 'order-2'],
  ];

  test('keeps orders from being recorded while it has something open, and nobody from reading', async () => {
    await shared(async (journal) => {
      expect(journal.list()).toEqual([]);
      await expect(journal.record(intent('k9', 9))).rejects.toMatchObject({
        category: 'conflict',
        message: expect.stringContaining("2 orders of this machine's own journal are in doubt or untold"),
        facts: {
          code: 'open_in_own_journal',
          outcome: 'not_sent',
          details: { keys: ['k1', 'k2'] },
          next: [{ command: 'errand order journal move' }],
        },
      });
      expect(await inTeam()).toEqual([]);
      await move();
      expect(await journal.record(intent('k9', 9))).toEqual({ mayBeSent: false });
    });
  });

  test('is moved with its reservations and grants, each once, and ends here', async () => {
    const preview = await move(true);
    expect(preview.records.map(({ key }) => key)).toEqual(['k1', 'k2']);
    expect(await inTeam()).toEqual([]);
    expect(await own((journal) => journal.list())).toHaveLength(2);
    const result = await move();
    expect(result).toMatchObject({ reservations: 1, left: [], records: [{ key: 'k1' }, { key: 'k2' }] });
    expect(await inTeam()).toEqual(moved);
    expect(await kindsIn()).toEqual(['intent', 'moved_in', 'intent', 'moved_in', 'responded']);
    await shared((journal) => {
      expect(journal.unfinished()).toMatchObject({ inDoubt: [{ key: 'k1' }], unreported: [{ key: 'k2' }] });
      expect(journal.reservations.since(0)).toMatchObject([{ key: 'k1', state: 'held', counted: 5100 }]);
      expect(journal.grants.of('order-2', baseUrl)?.apiKey).toContain('temporary');
    });
    await own((journal) => {
      expect(journal.list()).toEqual([]);
      expect(journal.get('k1', baseUrl)).toMatchObject({
        state: 'forgotten',
        code: 'moved',
        message: 'moved to the database team',
      });
      expect([...journal.audit.rows()].map(({ kind }) => kind).slice(-2)).toEqual(['moved_out', 'moved_out']);
    });
    expect(await move()).toMatchObject({ records: [], left: [] });
  });

  test('is moved once where the move was cut short between the two, whatever became of it in the database', async () => {
    const before = mkdtempSync(join(tmpdir(), 'errand-before-'));
    cpSync(folder, before, { recursive: true });
    await move();
    const settle = `await journal.claim(journal.get('k1', baseUrl)); await journal.respond('k1', baseUrl, 'order-1');
      await journal.report(journal.run.all());`;
    const other = mkdtempSync(join(tmpdir(), 'errand-other-'));
    await workElsewhere(other, team.url, settle);
    rmSync(other, { recursive: true, force: true });
    rmSync(folder, { recursive: true });
    cpSync(before, folder, { recursive: true });
    rmSync(before, { recursive: true });
    expect((await move()).left).toEqual([]);
    expect(await inTeam()).toEqual([
      ['k1', 'reported', 'order-1'],
      ['k2', 'responded', 'order-2'],
    ]);
    expect((await kindsIn()).filter((kind) => kind === 'moved_in')).toHaveLength(2);
    expect(await own((journal) => journal.list())).toEqual([]);
  });

  test('keeps what the database has under the same key for another order', async () => {
    const other = mkdtempSync(join(tmpdir(), 'errand-other-'));
    await workElsewhere(other, team.url, `await journal.record(${JSON.stringify(intent('k1', 77))});`);
    rmSync(other, { recursive: true, force: true });
    const { records, left } = await move();
    expect(records.map(({ key }) => key)).toEqual(['k2']);
    expect(left).toMatchObject([
      { record: { key: 'k1' }, why: 'the database has another order under this key' },
    ]);
    expect(await own((journal) => journal.list())).toMatchObject([{ key: 'k1' }]);
  });

  test('damaged, it is repaired by the line that every command prints', async () => {
    const workspace = makeWorkspace({ ERRAND_STATE_DIR: folder, ERRAND_DATABASE_URL: team.url });
    onTestFinished(workspace.remove);
    for (const end of ['-wal', '-shm']) rmSync(join(folder, `journal.db${end}`), { force: true });
    writeFileSync(join(folder, 'journal.db'), 'no database'.repeat(1000));
    const repair = 'env -u ERRAND_DATABASE_URL errand order journal repair';
    for (const verb of [['list'], ['resume', '--all'], ['move']]) {
      const refused = await errand(workspace, ['order', 'journal', ...verb, '-o', 'json']);
      expect([refused.code, errorOf(refused)], refused.stderr).toMatchObject([
        1,
        { message: expect.stringContaining(join(folder, 'journal.db')), next: [{ command: repair }, {}, {}] },
      ]);
    }
    const doctor = await errand(workspace, ['doctor', '-o', 'json']);
    expect([doctor.code, doctor.stdout]).toEqual([
      7,
      expect.stringContaining(`\`${repair}\` keeps what is intact`),
    ]);
    expect((await shell(workspace, repair)).code).toBe(0);
    const moved = await errand(workspace, ['order', 'journal', 'move']);
    expect([0, 5], moved.stderr).toContain(moved.code);
  });

  test('is open in the database where another attempt of the same was refused there, and its money counts', async () => {
    const grant = JSON.stringify(reserving('k1'));
    inAnotherProcess(
      folder,
      now,
      `const reserving = (key) => ({ ...${grant}, orders: [{ ...${grant}.orders[0], key, intent: key }], admit: () => ({}) });
       await journal.record(${JSON.stringify(intent('k4', 4))}, undefined, reserving('k4'));
       await journal.respond('k4', '${baseUrl}', 'order-4');`,
    );
    const other = mkdtempSync(join(tmpdir(), 'errand-other-'));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    const refused = ['k1', 'k4'].map(
      (key) => `await journal.record(${JSON.stringify(intent(key, key === 'k1' ? 5000 : 4))}, undefined,
          { ...${grant}, orders: [{ ...${grant}.orders[0], key: '${key}', intent: '${key}' }], admit: () => ({}) });
        await journal.refuse('${key}', baseUrl, { code: 'unavailable', message: 'refused' });`,
    );
    await workElsewhere(other, team.url, refused.join('\n'));
    const before = mkdtempSync(join(tmpdir(), 'errand-before-'));
    onTestFinished(() => rmSync(before, { recursive: true, force: true }));
    cpSync(folder, before, { recursive: true });
    expect((await move()).left).toEqual([]);
    expect(await inTeam()).toEqual([
      ['k1', 'intended', null],
      ['k2', 'responded', 'order-2'],
      ['k4', 'responded', 'order-4'],
    ]);
    const rule = { repeatedSince: now - 600_000 };
    await shared(async (journal) => {
      expect(journal.reservations.since(0)).toMatchObject([
        { key: 'k1', state: 'held', counted: 5100, intents: ['k1'] },
        { key: 'k4', state: 'held', counted: 5100, orderId: 'order-4' },
      ]);
      expect(journal.peekDuplicate(intent('again'), rule)).toMatchObject({ situation: 'in_doubt' });
      await journal.checkWhole();
    });
    expect(await brokenDatabase(team)).toEqual([]);
    // A move cut short before it ended the local records must not overwrite what has happened in the database since.
    await workElsewhere(other, team.url, `await journal.forget('k1', baseUrl);`);
    rmSync(folder, { recursive: true });
    cpSync(before, folder, { recursive: true });
    expect((await move()).left).toEqual([]);
    expect((await inTeam())[0]).toEqual(['k1', 'forgotten', null]);
    expect(await own((journal) => journal.list())).toEqual([]);
    expect(await brokenDatabase(team)).toEqual([]);
  });

  describe('has attempts, which go along', () => {
    const scope: AttemptScope = { service: baseUrl, accounts: ['a-fingerprint'], isTest: true };
    const bodyOf = (name: string) => orderBody(`https://shop.example/p/${name}`);
    const needFor = (name: string, reference?: string): AttemptNeed =>
      needOf(bodyOf(name), reference === undefined ? undefined : referenceOf(reference, 'shop'));
    const order = (key: string, name: string): Intent => ({
      ...intent(key),
      body: { ...bodyOf(name), idempotency_key: key },
    });
    const claim = (key: string, name: string, change: Partial<NewAttempt> = {}, reference?: string) => ({
      scope,
      needs: [needFor(name, reference)],
      decide: (): NewAttempt => ({
        ...{ run: undefined, number: 1, key, operation: 'order.create', upload: undefined },
        ...{ orderId: undefined, state: 'intended', madeAt: now, seenAt: undefined },
        ...change,
      }),
    });
    const row = { ...rowBody('https://shop.example/p/tea'), idempotency_key: 'row 1' };

    beforeEach(() =>
      own(async (journal) => {
        await journal.attempts();
        await journal.record(
          order('a1', 'mug'),
          undefined,
          undefined,
          claim('a1', 'mug', { number: 2 }, 'R-1'),
        );
        await journal.respond('a1', baseUrl, 'order-a1');
        await journal.report(journal.run.all());
        await journal.record(order('a2', 'pot'), undefined, undefined, claim('a2', 'pot', {}, 'R-2'));
        await journal.letGo('a2', baseUrl);
        await journal.record({ ...intent('b1'), operation: 'bulk.create', body: { rows: [row] } });
        await journal.respond('b1', baseUrl, 'batch-1');
        await journal.report(journal.run.all());
        const attempts = await journal.attempts();
        const made = [
          claim('row 1', 'tea', { upload: 'b1', state: 'placed', orderId: 'order-r1', run: 'may' }),
          claim('gone', 'cup', { state: 'placed', orderId: 'order-gone' }, 'R-3'),
          claim('lost', 'jar', { state: 'cancelled', orderId: 'order-lost' }, 'R-4'),
          claim('of no use', 'pan', { state: 'placed', orderId: 'order-old' }),
          claim('never', 'lid', { state: 'unsent' }, 'R-5'),
        ];
        for (const { needs, decide } of made) await attempts.claim(scope, needs, decide);
      }),
    );

    const there = () =>
      shared(async (journal) => {
        const needs = [
          ...[needFor('mug'), needFor('tea'), needFor('pot', 'R-2'), needFor('x', 'R-3')],
          ...[needFor('x', 'R-4'), needFor('pan'), needFor('lid', 'R-5'), needFor('x', 'R-1')],
        ];
        const found = await (await journal.attempts()).related(scope, needs);
        return found.map((all) =>
          all.map(({ key, state, orderId, number, run, upload, likeness }) =>
            [key, state, orderId, number, run, upload, likeness].filter((one) => one !== undefined).join(' '),
          ),
        );
      });
    const all = [
      ['a1 placed order-a1 2 alike'],
      ['row 1 placed order-r1 1 may b1 alike'],
      ['a2 intended 1 alike'],
      ['gone unknown order-gone 1 unlike'],
      ['lost cancelled order-lost 1 unlike'],
      [],
      [],
      ['a1 placed order-a1 2 unlike'],
    ];

    test('with references and scope; what is known by its reference alone has to be looked at', async () => {
      expect((await move(true)).attempts).toBe(5);
      expect((await team.rows('SELECT 1 FROM errand.attempts')).length).toBe(0);
      expect((await move()).attempts).toBe(5);
      expect(await there()).toEqual(all);
      const again = await move();
      expect([again.attempts, again.records, await there()]).toEqual([0, [], all]);
      await own(async (journal) => {
        const attempts = await journal.attempts();
        expect(await attempts.ofKey(scope, 'a2')).toMatchObject([{ state: 'unknown' }]);
        expect(await attempts.ofKey(scope, 'a1')).toMatchObject([{ state: 'placed' }]);
      });
    });

    test('once, where the move was cut short and the database has gone on', async () => {
      const before = mkdtempSync(join(tmpdir(), 'errand-before-'));
      onTestFinished(() => rmSync(before, { recursive: true, force: true }));
      cpSync(folder, before, { recursive: true });
      await move();
      await shared(async (journal) => {
        await journal.claim(journal.get('a2', baseUrl));
        await journal.respond('a2', baseUrl, 'order-a2');
        await (await journal.attempts()).follow(baseUrl, 'a2', { state: 'placed', orderId: 'order-a2' });
        await journal.report(journal.run.all());
      });
      rmSync(folder, { recursive: true });
      cpSync(before, folder, { recursive: true });
      expect((await move()).attempts).toBe(0);
      expect((await there())[2]).toEqual(['a2 placed order-a2 1 alike']);
    });

    test('as what has to be looked at, where they were made before there were attempts', async () => {
      const file = new (loadSqlite())(join(folder, 'journal.db'));
      file.exec('DELETE FROM attempts; UPDATE attempt_settings SET imported = 0');
      file.close();
      expect((await move()).attempts).toBeGreaterThan(2);
      const [mug, tea, pot] = await there();
      expect([mug, tea, pot]).toEqual([
        ['a1 unknown order-a1 1 alike'],
        ['row 1 unknown 1 b1 alike'],
        ['a2 intended 1 alike'],
      ]);
    });
  });

  test('is told by list, resume and doctor, since it stops all spending', async () => {
    const workspace = makeWorkspace({ ERRAND_STATE_DIR: folder, ERRAND_DATABASE_URL: team.url });
    onTestFinished(workspace.remove);
    const line =
      "2 orders of this machine's own journal are in doubt or untold, which stops spending: errand order journal move";
    for (const verb of [['list'], ['resume', '--all']])
      expect(await errand(workspace, ['order', 'journal', ...verb])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(line),
      });
    const { code, stdout } = await errand(workspace, ['doctor', '-o', 'json']);
    expect(code).toBe(7);
    expect(stdout).toContain("2 orders of this machine's own journal are in doubt or untold");
  });
});
