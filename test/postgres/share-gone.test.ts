import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { macOf, macUnder } from '../../src/journal/mac.ts';
import { hasPostgres } from '../support/postgres.ts';
import { errorOf } from '../support/shopping.ts';
import { DatabaseProxy } from './proxy.ts';
import { addresses, sentChunks, useWorkers } from './workers.ts';

const workers = useWorkers();
const { rows, write, bulk, run, begun, until, places, endLeases, endSigns } = workers;

/** A worker killed after the service has processed one of its batches. */
async function killedAtWork(...args: string[]): Promise<void> {
  const { child, ended } = begun(0, 'december.csv', '--share', ...args);
  workers.proxy.onMoment = (moment) => {
    if (moment === 'work-done') child.kill('SIGKILL');
  };
  await ended;
  workers.proxy.onMoment = () => {};
}

const stateOfUpload = async (machine: number): Promise<string> =>
  JSON.parse((await bulk(machine, 'uploads', '-o', 'json')).stdout)[0].state;

const owed = async (machine: number): Promise<unknown> =>
  JSON.parse((await run(machine, 'order', 'journal', 'list', '-o', 'json')).stdout);

describe.skipIf(!hasPostgres)('what a worker that is gone has left', () => {
  test.each([
    ['bulk resume december', ['resume', 'december']],
    ['bulk upload --share', ['upload', '--share', '--name', 'december']],
  ])('a batch in doubt that the queue has as done is settled by %s', async (_, args) => {
    write('december.csv', rows(4), [0]);
    await killedAtWork();
    const batches = JSON.parse((await bulk(1, 'list', '-o', 'json')).stdout);
    expect(batches).toHaveLength(1);
    // Simulates a worker that updated the queue before the journal, and whose machine was then lost.
    const value = { id: batches[0].id, existed: false };
    const at = { name: 'december', kind: 'place', place: 0 };
    const mac = macOf(macUnder(workers.service.key), 'result', { at, value });
    await workers.database.run(`
      UPDATE errand.campaign_chunks SET result = '${JSON.stringify({ ...value, mac })}', worker = NULL WHERE kind = 'place';
      UPDATE errand.campaigns SET state = 'done'`);
    await endSigns();
    const early = await bulk(1, ...args);
    expect(early.code, early.stderr).toBe(0);
    expect(early.stderr).toMatch(
      /process \d+ on \S+ is at work on a batch of december; should it be gone, in 1\d\d s: errand bulk resume december/,
    );
    await endLeases();
    expect(await stateOfUpload(1)).toBe('in doubt');
    const settled = await bulk(1, ...args);
    expect(settled.code, settled.stderr).toBe(0);
    expect(settled.stderr).toContain('a batch of december that was in doubt is settled');
    expect(await stateOfUpload(2)).toBe('sent');
    expect(await owed(2)).toEqual([]);
    const again = await bulk(2, 'resume', 'december');
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining('all of december is at the service; nothing was sent'),
    ]);
    expect(await places()).toEqual(addresses(4));
  });

  test('a batch is done in the queue only once the journal knows of it', async () => {
    write('december.csv', rows(3), [0]);
    const database = await DatabaseProxy.start(Number(new URL(workers.database.url).port));
    onTestFinished(() => database.close());
    const machine = workers.machine(0);
    machine.environment.ERRAND_DATABASE_URL = database.url(workers.database.url);
    const spool = join(machine.folder, '.state', 'spool');
    let isGone = false;
    workers.proxy.onMoment = (moment) => {
      if (moment === 'work-done') void database.refuse().then(() => (isGone = true));
    };
    const worker = begun(0, 'december.csv', '--share', '-o', 'json');
    await expect.poll(() => isGone).toBe(true);
    await expect.poll(() => names(spool)).toHaveLength(1);
    await database.accept();
    const { stderr } = await worker.ended;
    const [found] = await workers.database.rows<{ done: number; open: number }>(
      `SELECT ${sentChunks} AS done, (SELECT count(*) FROM errand.intents WHERE state = 'intended') AS open`,
    );
    expect([found?.done, found?.open], stderr).not.toEqual([1, 1]);
    // Discard the machine along with its local state.
    rmSync(join(machine.folder, '.state'), { recursive: true });
    await endLeases();
    const resumed = await bulk(1, 'resume', 'december');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await owed(1)).toEqual([]);
    expect(await places()).toEqual(addresses(3));
  });

  test('whoever waits for its lease says so, and for how long at most', async () => {
    write('december.csv', rows(3));
    await killedAtWork('--batch-size', '1');
    await endSigns();
    const { ended, output } = begun(1, '--share', '--name', 'december');
    await expect
      .poll(() => output.stderr)
      .toMatch(/^uploading: [012] of 3 rows, waiting up to 1\d\d s for process \d+ on \S+$/m);
    await endLeases();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(await places()).toEqual(addresses(3));
  });

  test('what it placed and never told is told by those who finish', async () => {
    write('december.csv', rows(8), [0]);
    const first = begun(0, 'december.csv', '--share', '--batch-size', '1');
    await until(`${sentChunks} > 2`);
    first.child.kill('SIGKILL');
    await first.ended;
    await endLeases();
    expect(await owed(1)).not.toEqual([]);
    const second = await bulk(1, 'upload', '--share', '--name', 'december', '-o', 'id');
    expect(second.code, second.stderr).toBe(0);
    expect(second.stdout.trim().split('\n')).toHaveLength(8);
    expect(await owed(2)).toEqual([]);
    expect(await places()).toEqual(addresses(8));
  });

  test.each([
    ['SIGINT', 130, 'is gone'],
    ['SIGTERM', 143, 'is silent'],
  ] as const)(
    '%s (%i) while the database %s: the JSON says how to go on, and nothing is placed twice',
    async (signal, code, how) => {
      write('december.csv', rows(6), [0]);
      const database = await DatabaseProxy.start(Number(new URL(workers.database.url).port));
      onTestFinished(() => database.close());
      workers.machine(0).environment.ERRAND_DATABASE_URL = database.url(workers.database.url);
      const worker = begun(0, 'december.csv', '--share', '--batch-size', '1', '-o', 'json');
      await until(`${sentChunks} > 1`);
      if (how === 'is gone') await database.refuse();
      else database.silence();
      worker.child.kill(signal);
      const stopped = await worker.ended;
      const error = errorOf({ ...stopped, signal: null });
      expect(error, stopped.stderr).toMatchObject({ exit_code: code, outcome: 'unknown', retryable: true });
      expect(stopped.code).toBe(code);
      expect(error.hint).not.toMatch(/[Dd]o not (?:order again|send it again)/);
      expect(error.next).toContainEqual(
        expect.objectContaining({ command: expect.stringContaining('errand bulk resume december') }),
      );
      await database.heal();
      await endLeases();
      const resumed = await bulk(0, 'resume', 'december');
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(await places()).toEqual(addresses(6));
    },
  );
});

function names(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}
