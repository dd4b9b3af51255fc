import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Moment } from '../faults/proxy.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { begin, errand, type Finished } from '../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../support/shopping.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { DatabaseProxy } from './proxy.ts';

/** A shop whose journal is in a shared database, reached through a proxy that can fail. */
interface TeamShop extends Shopping {
  readonly team: TeamDatabase;
  readonly database: DatabaseProxy;
  /** Makes the database unreachable at this moment of the next create. */
  goneAt(moment: Moment): void;
  /** Makes it reachable again. */
  back(): Promise<void>;
  /** Sets up another machine with the same service and database. */
  machine(): (...args: readonly string[]) => Promise<Finished>;
  /** Expires all leases. */
  endLeases(): Promise<void>;
  journal(): Promise<readonly (readonly unknown[])[]>;
}

const spoolOf = ({ workspace }: Shopping): string[] => {
  try {
    const folder = join(workspace.folder, '.state', 'spool');
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
};

/** Writes an upload file that orders the `test-success` product. */
async function orders({ run, workspace, service }: Shopping): Promise<void> {
  const { stdout } = await run('bulk', 'template');
  const url = service.product('test-success');
  writeFileSync(join(workspace.folder, 'orders.csv'), stdout.replaceAll(/https?:\/\/[^,|\s"]+/g, url));
}

describe.runIf(hasPostgres)('a database that machines share and that is lost', () => {
  const server = useServer();

  async function teamShop(): Promise<TeamShop> {
    const shop = await shopping();
    const team = await server().newDatabase();
    const database = await DatabaseProxy.start(server().port);
    onTestFinished(() => database.close());
    shop.workspace.environment.ERRAND_DATABASE_URL = database.url(team.url);
    let going: Promise<void> | undefined;
    return {
      ...shop,
      team,
      database,
      goneAt: (moment) => {
        shop.losses.onMoment = (now) => {
          if (now === moment) going ??= database.refuse();
        };
      },
      back: async () => {
        await going;
        going = undefined;
        shop.losses.onMoment = () => {};
        await database.accept();
      },
      machine: () => {
        const { ERRAND_BASE_URL = '', ERRAND_API_KEY = '' } = shop.workspace.environment;
        const other = makeWorkspace({
          ...{ ERRAND_NO_INPUT: '1', ERRAND_BASE_URL, ERRAND_API_KEY },
          ERRAND_DATABASE_URL: team.url,
        });
        onTestFinished(() => other.remove());
        return (...args) => errand(other, args);
      },
      endLeases: () =>
        team.run(
          `UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
           UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal')`,
        ),
      journal: async () => {
        const sql = 'SELECT operation, state, order_id FROM errand.intents ORDER BY created_at';
        const rows = await team.rows<Record<string, unknown>>(sql);
        return rows.map(({ operation, state, order_id: id }) => [operation, state, id]);
      },
    };
  }

  describe('before anything is sent', () => {
    test.each([
      ['an order', ['order', 'create', '--file', 'order.json']],
      ['an order paid by challenge', ['agent', 'order', 'create', '--file', 'order.json']],
      ['an upload', ['bulk', 'upload', 'orders.csv']],
      ['a look into the journal', ['order', 'journal', 'resume', '--all']],
    ])('%s: nothing is sent, and one sentence says so', async (_, args) => {
      const shop = await teamShop();
      await orders(shop);
      await shop.database.refuse();
      const { code, stdout, stderr } = await shop.run(...args);
      expect([code, stdout], stderr).toEqual([9, '']);
      const [line = ''] = stderr.split('\n').filter((text) => text.startsWith('error:'));
      expect(line).toMatch(
        /^error: the database 127\.0\.0\.1:\d+\/team_\d+ cannot be reached: nothing listens there/,
      );
      if (args[1] !== 'journal') expect(line).toContain('; nothing was sent');
      expect(stderr).not.toMatch(/unexpectedly|bug| {4}at /);
      const json = await shop.run(...args, '-o', 'json');
      expect(errorOf(json)).toMatchObject({
        exit_code: 9,
        outcome: 'not_sent',
        code: 'database_unreachable',
      });
      expect(await shop.orders()).toEqual([]);
      expect(spoolOf(shop)).toEqual([]);
    });
  });

  describe('after it was sent', () => {
    const ending = 'the database did not take the record of it, which follows';

    test('an order is told as placed, and its record follows with the next command', async () => {
      const shop = await teamShop();
      shop.goneAt('work-done');
      const placed = await shop.order('-o', 'id');
      const [{ id } = { id: '' }] = await shop.orders();
      expect([placed.code, placed.stdout.trim()], placed.stderr).toEqual([0, id]);
      expect(placed.stderr).toContain(`the order ${id} was placed; ${ending}`);
      const [file = ''] = spoolOf(shop);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readFileSync(file, 'utf8')).not.toContain(shop.team.password);
      expect((await shop.run('order', 'journal', 'list')).code).toBe(9);
      await shop.back();
      expect(await shop.journal()).toEqual([['order.create', 'intended', null]]);
      const listed = await shop.run('order', 'journal', 'list', '-o', 'json');
      expect(JSON.parse(listed.stdout), listed.stderr).toEqual([]);
      expect(await shop.journal()).toEqual([['order.create', 'reported', id]]);
      expect(spoolOf(shop)).toEqual([]);
      expect((await shop.order()).code).toBe(5);
      expect(await shop.orders()).toHaveLength(1);
    });

    test('an order paid by challenge keeps the key that reads it', async () => {
      const shop = await teamShop();
      let requests = 0;
      shop.losses.onMoment = (moment) => {
        // The first request only fetches the price.
        if (moment === 'request-came') requests += 1;
        if (moment === 'work-done' && requests === 2) void shop.database.refuse();
      };
      const placed = await shop.run('agent', 'order', 'create', '--file', 'order.json', '-o', 'id');
      const id = placed.stdout.trim();
      expect(placed.code, placed.stderr).toBe(0);
      expect(placed.stderr).toContain(ending);
      await shop.back();
      expect((await shop.run('agent', 'order', 'receipt', id, '-o', 'json')).code).toBe(0);
      const other = shop.machine();
      const elsewhere = await other('order', 'get', id);
      expect([elsewhere.code, elsewhere.stderr]).toEqual([
        5,
        expect.stringContaining(`the order ${id} was paid for by another machine, which alone can read it`),
      ]);
      expect((await shop.run('order', 'get', id)).code).toBe(0);
      expect(await shop.journal()).toEqual([['agent.order.create', 'reported', id]]);
    });

    test('a batch is told as created', async () => {
      const shop = await teamShop();
      await orders(shop);
      shop.goneAt('work-done');
      const uploaded = await shop.run('bulk', 'upload', 'orders.csv', '-o', 'id');
      expect(uploaded.code, uploaded.stderr).toBe(0);
      expect(uploaded.stderr).toContain(ending);
      await shop.back();
      expect((await shop.run('order', 'journal', 'list')).code).toBe(0);
      expect(await shop.journal()).toEqual([['bulk.create', 'reported', uploaded.stdout.trim()]]);
    });

    test('any machine resumes it before that, and it stays one order', async () => {
      const shop = await teamShop();
      shop.goneAt('work-done');
      const { stdout } = await shop.order('-o', 'id');
      await shop.back();
      await shop.endLeases();
      const resumed = await shop.machine()('order', 'journal', 'resume', '--all', '-o', 'id');
      expect([resumed.code, resumed.stdout], resumed.stderr).toEqual([0, stdout]);
      expect((await shop.run('order', 'journal', 'list')).code).toBe(0);
      expect(await shop.journal()).toEqual([['order.create', 'reported', stdout.trim()]]);
      expect(await shop.orders()).toHaveLength(1);
    });

    test('a refusal is told as in doubt, and ends the record with the next command', async () => {
      const shop = await teamShop();
      const account = ['--account', '3f1c2a9e-0000-4000-8000-000000000000'];
      shop.goneAt('work-done');
      const refused = await shop.order(...account, '-o', 'json');
      expect(refused.code, refused.stderr).toBe(10);
      const error = errorOf(refused);
      expect(error).toMatchObject({ category: 'in_doubt', outcome: 'unknown' });
      expect(error.message).toMatch(
        /^in doubt: nothing came of the order here \(.*\), and the database could not record/,
      );
      expect(error.next[0].command).toContain('errand order journal resume ');
      await shop.back();
      expect((await shop.run('order', 'journal', 'list')).code).toBe(0);
      expect(await shop.journal()).toEqual([['order.create', 'refused', null]]);
      expect(await shop.orders()).toEqual([]);
    });
  });

  test('a refusal that this machine cannot keep for it either is in doubt too', async () => {
    const shop = await teamShop();
    shop.losses.onMoment = (now) => {
      if (now !== 'work-done') return;
      shop.losses.onMoment = () => {};
      // A file where the spool directory should be.
      writeFileSync(join(shop.workspace.folder, '.state', 'spool'), '');
      void shop.database.refuse();
    };
    const refused = await shop.order('--account', '3f1c2a9e-0000-4000-8000-000000000000', '-o', 'json');
    expect(refused.code, refused.stderr).toBe(10);
    expect(errorOf(refused)).toMatchObject({ category: 'in_doubt', outcome: 'unknown' });
    expect(await shop.journal()).toEqual([['order.create', 'intended', null]]);
  });

  test.each([
    [true, [['order.create', 'refused', null]]],
    [false, []],
  ])(
    'with the answer to the record (it arrived: %s): nothing is sent, which is said',
    async (arrives, expected) => {
      const shop = await teamShop();
      expect((await shop.run('order', 'journal', 'list')).code).toBe(0);
      shop.database.faultAt({
        at: /INSERT INTO errand\.intents/,
        arrives,
        end: 'cut',
        onMessage: () => void setImmediate(() => void shop.database.refuse()),
      });
      const lost = await shop.order();
      expect(lost.code, lost.stderr).toBe(9);
      expect(lost.stderr).toMatch(
        /it may have the record of .* other machines may take that for in doubt; nothing was sent/,
      );
      await shop.back();
      expect((await shop.run('order', 'journal', 'list')).code).toBe(0);
      expect(await shop.journal()).toEqual(expected);
      const again = await shop.order();
      expect(again.code, again.stderr).toBe(0);
      expect(await shop.orders()).toHaveLength(1);
    },
  );

  describe('and a process that ends or stands still in the middle', () => {
    /** Runs `order create` and calls `act` at a moment of its request. */
    async function atMoment(shop: TeamShop, moment: Moment, act: (pid: number) => void): Promise<Finished> {
      const child = begin(shop.workspace, 'errand', ['order', 'create', '--file', 'order.json', '-o', 'id']);
      const [out, err]: Buffer[][] = [[], []];
      child.stdout.on('data', (chunk: Buffer) => out?.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => err?.push(chunk));
      child.stdin.end();
      shop.losses.onMoment = (now) => {
        if (now !== moment || child.pid === undefined) return;
        shop.losses.onMoment = () => {};
        act(child.pid);
      };
      return new Promise((resolve) => {
        child.on('close', (code, signal) => {
          const [stdout, stderr] = [out, err].map((chunks) => Buffer.concat(chunks ?? []).toString());
          resolve({ code, signal, stdout: stdout ?? '', stderr: stderr ?? '' });
        });
      });
    }

    test.each(['request-came', 'work-done'] as const)(
      'killed at %s: another machine makes it one order',
      async (moment) => {
        const shop = await teamShop();
        const killed = await atMoment(shop, moment, (pid) => process.kill(pid, 'SIGKILL'));
        expect(killed.signal).toBe('SIGKILL');
        const other = shop.machine();
        const early = await other('order', 'journal', 'resume', '--all', '-o', 'json');
        expect([early.code, early.stdout.trim()], early.stderr).toEqual([0, '[]']);
        const [, key = ''] =
          /^(\S+) is left to process \d+ on \S+, which is at work on it; should that be gone, its lease ends in 1\d\d s/m.exec(
            early.stderr,
          ) ?? [];
        expect(early.stderr).toContain(key);
        // Naming this one explicitly reports that it is not settled.
        const named = await other('order', 'journal', 'resume', key, '-o', 'json');
        expect([named.code, errorOf(named)], named.stderr).toMatchObject([
          5,
          { code: 'at_work', idempotency_key: key },
        ]);
        await shop.endLeases();
        const resumed = await other('order', 'journal', 'resume', '--all', '-o', 'id');
        const [{ id } = { id: '' }] = await shop.orders();
        expect([resumed.code, resumed.stdout.trim()], resumed.stderr).toEqual([0, id]);
        expect(await shop.journal()).toEqual([['order.create', 'reported', id]]);
        expect(await shop.orders()).toHaveLength(1);
      },
    );

    test('two machines that resume all at once make it one order, and neither fails', async () => {
      const shop = await teamShop();
      await atMoment(shop, 'request-came', (pid) => process.kill(pid, 'SIGKILL'));
      await shop.endLeases();
      const resuming = ['order', 'journal', 'resume', '--all', '-o', 'id'];
      const both = await Promise.all([shop.machine(), shop.machine()].map((machine) => machine(...resuming)));
      const [{ id } = { id: '' }] = await shop.orders();
      for (const { code, stderr } of both) expect(code, stderr).toBe(0);
      expect(new Set(both.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean)))).toEqual(
        new Set([id]),
      );
      expect(await shop.orders()).toHaveLength(1);
      expect(await shop.journal()).toEqual([['order.create', 'reported', id]]);
    });

    test('suspended until another machine has resumed it: both tell the same order', async () => {
      const shop = await teamShop();
      let stopped: number | undefined;
      const running = atMoment(shop, 'work-done', (pid) => {
        process.kill(pid, 'SIGSTOP');
        stopped = pid;
      });
      await expect.poll(() => stopped).toBeDefined();
      await shop.endLeases();
      const resumed = await shop.machine()('order', 'journal', 'resume', '--all', '-o', 'id');
      expect(resumed.code, resumed.stderr).toBe(0);
      process.kill(stopped ?? 0, 'SIGCONT');
      const { code, stdout, stderr } = await running;
      expect([code, stdout], stderr).toEqual([0, resumed.stdout]);
      expect(await shop.orders()).toHaveLength(1);
      expect(await shop.journal()).toEqual([['order.create', 'reported', stdout.trim()]]);
    });
  });

  test('what a machine has open of its own stops orders until it is moved, and is one order then', async () => {
    const shop = await teamShop();
    const { ERRAND_DATABASE_URL: url = '' } = shop.workspace.environment;
    delete shop.workspace.environment.ERRAND_DATABASE_URL;
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    shop.workspace.environment.ERRAND_DATABASE_URL = url;
    const stopped = await shop.order('-o', 'json');
    expect(stopped.code, stopped.stderr).toBe(5);
    const error = errorOf(stopped);
    expect(error).toMatchObject({ code: 'open_in_own_journal', outcome: 'not_sent' });
    expect((await shop.run('order', 'list')).code).toBe(0);
    const preview = await shop.run('order', 'journal', 'move', '--dry-run', '-o', 'id');
    expect([preview.code, preview.stdout.trim()], preview.stderr).toEqual([0, error.details.keys[0]]);
    expect(await shop.journal()).toEqual([]);
    const { command } = error.next[0];
    const moved = await shop.run(...command.split(' ').slice(1));
    expect(moved.code, moved.stderr).toBe(0);
    expect(moved.stderr).toMatch(/1 is in the database 127\.0\.0\.1:\d+\/team_\d+/);
    const resumed = await shop.machine()('order', 'journal', 'resume', '--all', '-o', 'id');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
    delete shop.workspace.environment.ERRAND_DATABASE_URL;
    expect(JSON.parse((await shop.run('order', 'journal', 'list', '-o', 'json')).stdout)).toEqual([]);
    expect((await shop.run('audit', 'verify')).code).toBe(0);
    expect((await shop.machine()('audit', 'verify')).code).toBe(0);
  });
});
