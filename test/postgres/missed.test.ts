import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { copyFolder } from '../../src/format/database-address.ts';
import { Journal } from '../../src/journal/journal.ts';
import type { Intent } from '../../src/journal/journal-record.ts';
import { journalFile } from '../../src/journal/journal-tables.ts';
import { Connection } from '../../src/journal/postgres/connect.ts';
import { MadeTwiceError } from '../../src/journal/record-result.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { ErrandError } from '../../src/platform/errors.ts';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { baseUrl, intent, paidIntent } from '../support/intents.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { workElsewhere } from './elsewhere.ts';
import { DatabaseProxy } from './proxy.ts';

/** A clock that runs 30 times as fast, so that tests need not wait out an unreachable server. */
const fast = {
  now: Date.now,
  monotonic: () => performance.now() * 30,
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms / 30)),
};

const spooled = (folder: string): string[] => {
  try {
    return readdirSync(join(folder, 'spool')).map((name) => join(folder, 'spool', name));
  } catch {
    return [];
  }
};

/** Returns the error of a rejected promise. */
async function failureOf(work: Promise<unknown>): Promise<ErrandError> {
  const error = await work.then(
    () => expect.fail('it succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof ErrandError) return error;
  throw error;
}

describe.runIf(hasPostgres)('what a shared database did not take', () => {
  const server = useServer();
  let team: TeamDatabase;
  let proxy: DatabaseProxy;
  let folder: string;
  let told: string[];

  beforeEach(async () => {
    team = await server().newDatabase();
    proxy = await DatabaseProxy.start(server().port);
    folder = mkdtempSync(join(tmpdir(), 'errand-missed-'));
    told = [];
  });
  afterEach(async () => {
    await proxy.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  const address = () => ({ url: proxy.url(team.url), shown: 'team' });
  /** Opens a machine's journal. @param at its state directory. */
  async function machine(at = folder, signal?: AbortSignal): Promise<Journal> {
    const journal = await Journal.open(at, Date.now, {
      shared: { address: address() },
      waiting: { clock: fast, signal },
      warn: (line) => told.push(line),
    });
    let isClosed = false;
    const close = async (): Promise<void> => {
      if (!isClosed) await journal.close();
      isClosed = true;
    };
    opened.push(close);
    return journal;
  }
  /** Creates the state directory of another machine. */
  const another = (): string => {
    const other = mkdtempSync(join(tmpdir(), 'errand-other-'));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    return other;
  };
  /** Runs `work` on the journal as a process of another machine. @param work with `journal` and `baseUrl` in scope. */
  const elsewhere = (work: string): Promise<string> => workElsewhere(another(), team.url, work);
  const resumed = (key: string, id: string): string =>
    `await journal.claim(journal.get('${key}', baseUrl)); await journal.respond('${key}', baseUrl, '${id}'); await journal.report(journal.run.all());`;
  const claimed = (key: string): string => `await journal.claim(journal.get('${key}', baseUrl));`;
  /** Expires all leases, as if their processes were gone. */
  const endLeases = (): Promise<void> =>
    team.run(
      `UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
       UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal')`,
    );
  const states = async () => {
    const rows = await team.rows<{
      key: string;
      state: string;
      order_id: string | null;
      code: string | null;
    }>('SELECT key, state, order_id, code FROM errand.intents ORDER BY key');
    return rows.map(({ key, state, order_id: id, code }) => [key, state, id ?? code]);
  };
  const kinds = async (): Promise<string[]> =>
    (await team.rows<{ kind: string }>('SELECT kind FROM errand.audit ORDER BY number')).map(
      ({ kind }) => kind,
    );

  test('that an order was placed is kept for the owner alone, and brought in by the next command of the machine', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await proxy.refuse();
    expect(await journal.respond('k1', baseUrl, 'order-1')).toBe('follows');
    expect(journal.run.all()).toMatchObject([{ key: 'k1', madeId: 'order-1' }]);
    const [file = ''] = spooled(folder);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(team.password);
    expect(await states()).toEqual([['k1', 'intended', null]]);
    await proxy.accept();
    // Importing a copy of the file a second time does no harm.
    cpSync(file, `${folder}/kept`);
    expect((await machine()).list()).toMatchObject([{ key: 'k1', state: 'responded', order_id: 'order-1' }]);
    expect(spooled(folder)).toEqual([]);
    cpSync(`${folder}/kept`, file);
    await machine();
    expect(spooled(folder)).toEqual([]);
    expect(await states()).toEqual([['k1', 'responded', 'order-1']]);
    expect((await kinds()).filter((kind) => kind === 'responded')).toHaveLength(1);
  });

  test('what was shown to the user is not owed any more once it is brought in', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await proxy.refuse();
    await journal.respond('k1', baseUrl, 'order-1');
    await journal.report(journal.run.all());
    expect(journal.run.all()).toEqual([]);
    await proxy.accept();
    expect((await machine()).list()).toEqual([]);
    expect(await states()).toEqual([['k1', 'reported', 'order-1']]);
  });

  test('the same process brings it in before it records more', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await proxy.refuse();
    await journal.respond('k1', baseUrl, 'order-1');
    await proxy.accept();
    await journal.record(intent('k2', 1));
    expect(await states()).toEqual([
      ['k1', 'responded', 'order-1'],
      ['k2', 'intended', null],
    ]);
    expect(spooled(folder)).toEqual([]);
  });

  test('a paid order brings its key along, which reads it at once', async () => {
    const grant = { apiKey: 'xx_live_a-temporary-key-of-one-order', receipt: undefined };
    const journal = await machine();
    await journal.record(paidIntent('k1'));
    await journal.saveCredential('k1', baseUrl, 'a payment');
    await proxy.refuse();
    expect(await journal.respond('k1', baseUrl, 'order-1', grant)).toBe('follows');
    expect(journal.grants.of('order-1', baseUrl)).toEqual(grant);
    await journal.report(journal.run.all());
    await proxy.accept();
    expect((await machine()).grants.of('order-1', baseUrl)).toEqual(grant);
    expect((await machine(another())).grants.of('order-1', baseUrl)).toEqual({
      apiKey: undefined,
      receipt: undefined,
      isOfOtherMachine: true,
    });
  });

  test('any machine can resume it before that, and the order stays one', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await proxy.refuse();
    await journal.respond('k1', baseUrl, 'order-1');
    await proxy.accept();
    await endLeases();
    await elsewhere(resumed('k1', 'order-1'));
    await machine();
    expect(await states()).toEqual([['k1', 'reported', 'order-1']]);
    expect(told).toEqual([]);
  });

  test('a second order of one key is told loudly, and both stand in the chain', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await journal.record(intent('k2', 1));
    await endLeases();
    await elsewhere(resumed('k1', 'k1-one') + resumed('k2', 'k2-one'));
    await expect(journal.respond('k1', baseUrl, 'k1-two')).rejects.toThrow(MadeTwiceError);
    await proxy.refuse();
    await expect(journal.respond('k2', baseUrl, 'k2-two')).rejects.toThrow(MadeTwiceError);
    await proxy.accept();
    await machine();
    expect(told).toEqual([
      expect.stringContaining('has made two of k2: k2-one, which the journal knows, and k2-two'),
    ]);
    expect((await states()).map(([, , id]) => id)).toEqual(['k1-one', 'k2-one']);
    expect((await kinds()).filter((kind) => kind === 'responded')).toHaveLength(4);
    expect(spooled(folder)).toEqual([]);
  });

  test('a refusal ends the record with the next command, unless another machine has taken it over', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await journal.record(intent('k2', 1));
    await proxy.refuse();
    const refusal = { code: 'insufficient_funds', message: 'no' };
    expect(await journal.refuse('k1', baseUrl, refusal)).toBe('follows');
    expect(await journal.refuse('k2', baseUrl, refusal)).toBe('follows');
    await proxy.accept();
    await endLeases();
    await elsewhere(claimed('k2'));
    await machine();
    expect(await states()).toEqual([
      ['k1', 'refused', 'insufficient_funds'],
      ['k2', 'intended', null],
    ]);
    expect(spooled(folder)).toEqual([]);
  });

  describe('where the answer to the record itself was lost', () => {
    test.each([
      [true, [['k1', 'refused', 'not_sent']]],
      [false, []],
    ])('and it had arrived: %s, it counts as never sent', async (arrives, expected) => {
      const journal = await machine();
      let refused: Promise<void> | undefined;
      proxy.faultAt({
        at: /UPDATE errand\.heads/,
        arrives,
        end: 'cut',
        onMessage: () => void setImmediate(() => (refused = proxy.refuse())),
      });
      const error = await failureOf(journal.record(intent('k1')));
      await refused;
      expect([error.category, error.facts.outcome]).toEqual(['unavailable', 'not_sent']);
      expect(error.message).toMatch(
        /it may have the record of k1.*other machines may take that for in doubt/,
      );
      expect(journal.run.all()).toEqual([]);
      await proxy.accept();
      await machine();
      expect(await states()).toEqual(expected);
      expect(spooled(folder)).toEqual([]);
    });

    test('and another machine has it by then, that one settles it', async () => {
      const journal = await machine();
      let refused: Promise<void> | undefined;
      const onMessage = () => void setImmediate(() => (refused = proxy.refuse()));
      proxy.faultAt({ at: /UPDATE errand\.heads/, arrives: true, end: 'cut', onMessage });
      await failureOf(journal.record(intent('k1')));
      await refused;
      await proxy.accept();
      await endLeases();
      await elsewhere(claimed('k1'));
      await machine();
      expect(await states()).toEqual([['k1', 'intended', null]]);
    });

    test('and the database comes back at once, it is recorded', async () => {
      const journal = await machine();
      proxy.faultAt({ at: /UPDATE errand\.heads/, arrives: true, end: 'cut' });
      expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: false });
      proxy.faultAt({ at: /UPDATE errand\.heads/, arrives: false, end: 'cut' });
      expect(await journal.record(intent('k2', 1))).toEqual({ mayBeSent: false });
      expect((await kinds()).filter((kind) => kind === 'intent')).toHaveLength(2);
    });
  });

  test.each([
    ['for too long', false, 'unexpected'],
    ['and the user interrupts', true, 'interrupted'],
  ])(
    'a record that the database took while the copy here was locked %s counts as never sent',
    async (_, isInterrupted, category) => {
      const stop = new AbortController();
      const journal = await machine(folder, stop.signal);
      const { hold, release } = copyLock();
      proxy.delayMs = 50;
      const recording = failureOf(journal.record(intent('k1')));
      await expect.poll(hasSent('INSERT INTO errand.intents'), { interval: 1 }).toBe(true);
      hold();
      if (isInterrupted) stop.abort(new ErrandError('interrupted', 'interrupted'));
      const error = await recording;
      release();
      proxy.delayMs = 0;
      expect([error.category, error.facts.outcome], error.message).toEqual([category, 'not_sent']);
      expect(error.message).toMatch(/^the copy here of the database team was not written .*record of k1/);
      expect(await states()).toEqual([['k1', 'intended', null]]);
      expect(journal.run.all()).toEqual([]);
      await machine();
      expect(await states()).toEqual([['k1', 'refused', 'not_sent']]);
      expect(spooled(folder)).toEqual([]);
    },
  );

  /** A lock on the local copy, held by another process. */
  function copyLock(): { readonly hold: () => void; readonly release: () => void } {
    const other = new (loadSqlite())(journalFile(copyFolder(folder, address())));
    onTestFinished(() => other.close());
    return { hold: () => other.exec('BEGIN IMMEDIATE'), release: () => other.exec('ROLLBACK') };
  }
  const hasSent = (text: string) => () => proxy.statements.some((statement) => statement.includes(text));

  test('what comes after a commit of unknown fate is committed too, though the copy was locked meanwhile', async () => {
    const journal = await machine();
    const { hold, release } = copyLock();
    proxy.faultAt({ at: /UPDATE errand\.heads/, arrives: true, end: 'cut', onMessage: hold });
    expect((await failureOf(journal.record(intent('k1')))).message).toContain('record of k1');
    release();
    await journal.refresh('now');
    await journal.record(intent('k2', 1));
    expect(await states()).toEqual([
      ['k1', 'refused', 'not_sent'],
      ['k2', 'intended', null],
    ]);
  });

  test('where the server ends the lock while the copy is held, and others write, it is done once more', async () => {
    // Use real time: starting another process takes a moment.
    const journal = await Journal.open(folder, Date.now, { shared: { address: address() } });
    const { hold, release } = copyLock();
    try {
      await elsewhere(`await journal.record(${JSON.stringify(intent('k8', 8))});`);
      proxy.delayMs = 50;
      proxy.reset();
      const recording = journal.record(intent('k1'));
      await expect.poll(hasSent('FOR UPDATE'), { interval: 1 }).toBe(true);
      hold();
      proxy.delayMs = 0;
      const locked = `datname = '${team.name}' AND state = 'idle in transaction'`;
      const found = `SELECT pid FROM pg_stat_activity WHERE ${locked}`;
      await expect.poll(() => team.rows(found)).toHaveLength(1);
      await team.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${locked}`);
      await elsewhere(`await journal.record(${JSON.stringify(intent('k9', 9))});`);
      release();
      expect(await recording).toEqual({ mayBeSent: false });
      expect((await states()).map(([key]) => key)).toEqual(['k1', 'k8', 'k9']);
      expect(await brokenDatabase(team)).toEqual([]);
    } finally {
      await journal.close();
    }
  });

  test('a commit that another session keeps locked out is given up, and nothing is recorded', async () => {
    const journal = await machine();
    await team.run(`CREATE FUNCTION errand.lock_out() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'canceling statement due to lock timeout' USING ERRCODE = '55P03'; END $$;
      CREATE TRIGGER locks_out BEFORE INSERT ON errand.intents FOR EACH STATEMENT EXECUTE FUNCTION errand.lock_out()`);
    const error = await failureOf(journal.record(intent('k1')));
    expect([error.category, error.facts.outcome]).toEqual(['unavailable', 'not_sent']);
    expect(error.message).toMatch(/another session holds a lock there for too long/);
    await team.run('DROP TRIGGER locks_out ON errand.intents');
    expect(await states()).toEqual([]);
    expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: false });
  });

  test('a connection sees what others have committed, though the transactions of its role are serializable', async () => {
    await team.run(
      `ALTER ROLE errand IN DATABASE ${team.name} SET default_transaction_isolation = serializable`,
    );
    const connection = new Connection(address());
    onTestFinished(() => connection.drop());
    expect(await connection.ask('SHOW transaction_isolation')).toEqual([
      { transaction_isolation: 'read committed' },
    ]);
  });

  test('a lease ends with its process, though the answer to what it was taken with was lost', async () => {
    const journal = await machine();
    proxy.faultAt({ at: /UPDATE errand\.heads/, arrives: true, end: 'cut' });
    await journal.record(intent('k1'));
    await opened.pop()?.();
    expect(await team.rows('SELECT until FROM errand.leases')).toEqual([{ until: 0 }]);
  });

  test('a lease counts the time that its machine slept since it read what time it is', async () => {
    let asleepMs = 0;
    const clock = { ...systemClock, now: () => Date.now() + asleepMs };
    const journal = await Journal.open(folder, Date.now, { shared: { address: address(), clock } });
    asleepMs = 3600_000;
    await journal.record(intent('k1'));
    const [lease] = await team.rows<{ until: number }>('SELECT until FROM errand.leases');
    await journal.close();
    expect(lease?.until).toBeGreaterThan(Date.now() + asleepMs + 120_000);
  });

  test('a pid tells nothing of a process that another container has started with the same state folder', async () => {
    await workElsewhere(folder, team.url, `await journal.record(${JSON.stringify(intent('k1'))});`);
    const { address: of } = { address: { url: team.url, shown: 'team' } };
    const open = async () => {
      const journal = await Journal.open(folder, Date.now, { shared: { address: of } });
      const owed = journal.unfinished().inDoubt.map(({ key }) => key);
      await journal.close();
      return owed;
    };
    expect(await open()).toEqual(['k1']);
    const copy = new (loadSqlite())(journalFile(copyFolder(folder, of)));
    copy.exec("UPDATE own_processes SET place = 'elsewhere'");
    copy.close();
    expect(await open()).toEqual([]);
  });

  test('a database that is gone before the record: nothing is recorded, and nothing is kept', async () => {
    const journal = await machine();
    await proxy.refuse();
    const error = await failureOf(journal.record(intent('k1')));
    expect([error.category, error.facts.outcome]).toEqual(['unavailable', 'not_sent']);
    await proxy.accept();
    expect((await machine()).list(true)).toEqual([]);
  });

  describe('a process that stood still until another machine took its record over', () => {
    async function overtaken(of: Intent): Promise<Journal> {
      const journal = await machine();
      await journal.record(of);
      await endLeases();
      await elsewhere(claimed('k1'));
      return journal;
    }

    test('books no refusal and no doubt, and does not let go of it', async () => {
      const journal = await overtaken(intent('k1'));
      const before = await kinds();
      expect(await journal.refuse('k1', baseUrl, { code: 'no', message: 'no' })).toBe('taken');
      await journal.leaveInDoubt('k1', baseUrl, 'timeout');
      await journal.letGo('k1', baseUrl);
      expect(await kinds()).toEqual(before);
      expect(await states()).toEqual([['k1', 'intended', null]]);
      expect(await journal.respond('k1', baseUrl, 'order-1')).toBe('booked');
    });

    test('keeps no refusal for the database to learn of, where it knows that before that is lost', async () => {
      const journal = await overtaken(intent('k1'));
      await journal.refresh('now');
      await proxy.refuse();
      expect(await journal.refuse('k1', baseUrl, { code: 'no', message: 'no' })).toBe('taken');
      expect(spooled(folder)).toEqual([]);
      await proxy.accept();
      await machine();
      expect(await states()).toEqual([['k1', 'intended', null]]);
    });

    test('does not send for it any more, nor pay', async () => {
      const journal = await overtaken(paidIntent('k1'));
      expect(await failureOf(journal.hold('k1', baseUrl, true))).toMatchObject({
        category: 'conflict',
        facts: { outcome: 'not_sent' },
      });
      const paid = failureOf(journal.saveCredential('k1', baseUrl, 'a payment'));
      expect((await paid).message).toContain('taken k1 over');
    });
  });

  test('a record is held for as long as its request may take, and anew where little is left', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    proxy.reset();
    const left = await journal.hold('k1', baseUrl);
    expect(left).toBeGreaterThan(100_000);
    expect(left).toBeLessThanOrEqual(120_000);
    expect(proxy.statements).toEqual([]);
    expect(await journal.hold('k1', baseUrl, true)).toBeGreaterThan(119_000);
    expect(proxy.statements).not.toEqual([]);
  });

  test('a file in the spool that is not what was written is told of, and left alone', async () => {
    const journal = await machine();
    await journal.record(intent('k1'));
    await proxy.refuse();
    await journal.respond('k1', baseUrl, 'order-1');
    const [file = ''] = spooled(folder);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('order-1', 'order-2'));
    await proxy.accept();
    await machine();
    expect(told).toEqual([
      expect.stringContaining(`${file} tells what became of an order and cannot be used`),
    ]);
    expect(spooled(folder)).toEqual([file]);
    expect(await states()).toEqual([['k1', 'intended', null]]);
    // A spool file for another database is left for that one.
    writeFileSync(file, text);
    team = await server().newDatabase();
    told = [];
    const other = another();
    cpSync(join(folder, 'spool'), join(other, 'spool'), { recursive: true });
    await machine(other);
    expect([told, spooled(other)]).toMatchObject([[], [expect.any(String)]]);
  });
});
