import { spawn } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Ended, endOf } from '../faults/attempt.ts';
import { hasStrace } from '../faults/sweep.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { lose, type Shopping, shopping } from '../support/shopping.ts';
import { makeWorkspace } from '../support/workspace.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));

/** System calls that change a file or send to the database. */
const changing = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'unlink', 'write', 'writev', 'exit_group'];
/** Also covers the steps before a local copy of the database exists, and each page write. */
const isThorough = process.env.HURT_ALL === '1';

/** The nth call of that name in a command, counted from 1. */
interface Point {
  readonly call: string;
  readonly when: number;
}

/** Runs `order journal move` under strace. */
function moveUnder(environment: Readonly<Record<string, string>>, strace: readonly string[]): Promise<Ended> {
  const { NODE_OPTIONS: _, ...own } = environment;
  const all = ['-qq', '-e', 'signal=none', ...strace, process.execPath, program, 'order', 'journal', 'move'];
  return endOf(spawn('strace', all, { env: own, stdio: ['ignore', 'pipe', 'pipe'] }));
}

describe.skipIf(!hasPostgres || !hasStrace())('order journal move, killed', () => {
  const server = useServer();

  /** Three orders in doubt in the machine's own journal, two of which reached the service. */
  async function owing(): Promise<Shopping> {
    const shop = await shopping();
    writeFileSync(join(shop.workspace.folder, 'policy.yaml'), 'version: 1\nlimits: { per_day: $900 }\n', {
      mode: 0o600,
    });
    shop.workspace.environment.ERRAND_POLICY = join(shop.workspace.folder, 'policy.yaml');
    for (const [at, fault] of (['reset-before', 'reset-after', 'reset-after'] as const).entries()) {
      const order = orderBody(shop.service.product('test-success'));
      const recipient = { ...order.shipping_address, last_name: `Byron ${at}` };
      const body = { ...order, shipping_address: recipient, max_price: 5000 + at };
      writeFileSync(join(shop.workspace.folder, 'order.json'), JSON.stringify(body));
      lose(shop, fault);
      expect((await shop.order()).code).toBe(10);
    }
    return shop;
  }

  test('at any step, and then again: all is moved once, and becomes one order each', async () => {
    const shop = await owing();
    const { folder, environment } = shop.workspace;
    const [state, kept] = [join(folder, '.state'), join(folder, 'kept')];
    cpSync(state, kept, { recursive: true });
    const again = (): void => {
      rmSync(state, { recursive: true });
      cpSync(kept, state, { recursive: true });
    };
    const log = join(folder, 'trace');
    const whole = await server().newDatabase();
    const traced = await moveUnder({ ...environment, ERRAND_DATABASE_URL: whole.url }, [
      ...['-o', log, '-e', `trace=openat,${changing.join(',')}`],
    ]);
    expect(traced.code, traced.stderr).toBe(0);
    const lines = readFileSync(log, 'utf8').split('\n');
    const points = pointsOf(lines);
    for (const { call, when } of points) {
      again();
      const team = await server().newDatabase();
      const named = { ...environment, ERRAND_DATABASE_URL: team.url };
      const hurt = await moveUnder(named, [
        ...['-o', '/dev/null', '-e', `trace=${call}`],
        ...['-e', `inject=${call}:signal=SIGKILL:when=${when}`],
      ]);
      const where = `${call} ${when}`;
      expect([where, hurt.code === 0 || hurt.signal === 'SIGKILL' || hurt.code === 137], hurt.stderr).toEqual(
        [where, true],
      );
      Object.assign(environment, { ERRAND_DATABASE_URL: team.url });
      const moved = await shop.run('order', 'journal', 'move');
      expect([where, moved.code], moved.stderr).toEqual([where, 0]);
      const found = await team.rows(
        `SELECT (SELECT count(*) FROM errand.intents) AS records, (SELECT count(*) FROM errand.reservations) AS reservations,
           (SELECT count(*) FROM errand.attempts) AS attempts, (SELECT count(*) FROM errand.attempts WHERE state = 'intended') AS doubtful`,
      );
      expect([where, found]).toEqual([where, [{ records: 3, reservations: 3, attempts: 3, doubtful: 3 }]]);
      const kinds = await team.rows<{ kind: string }>(
        "SELECT kind FROM errand.audit WHERE kind = 'moved_in'",
      );
      expect([where, kinds.length]).toEqual([where, 3]);
      expect([where, await brokenDatabase(team)]).toEqual([where, []]);
      delete environment.ERRAND_DATABASE_URL;
      const own = await shop.run('order', 'journal', 'list', '-o', 'json');
      expect([where, JSON.parse(own.stdout)], own.stderr).toEqual([where, []]);
    }
    // Whichever database it is moved to, each remains a single order.
    const last = await server().newDatabase();
    again();
    Object.assign(environment, { ERRAND_DATABASE_URL: last.url });
    expect((await shop.run('order', 'journal', 'move')).code).toBe(0);
    const elsewhere = makeWorkspace({
      ...{ ERRAND_NO_INPUT: '1', ERRAND_BASE_URL: environment.ERRAND_BASE_URL ?? '' },
      ...{ ERRAND_API_KEY: environment.ERRAND_API_KEY ?? '', ERRAND_DATABASE_URL: last.url },
    });
    onTestFinished(() => elsewhere.remove());
    const resumed = await errand(elsewhere, ['order', 'journal', 'resume', '--all']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(3);
  });
});

/**
 * Fault points from where the local copy of the database is opened; with HURT_ALL, from where the machine's own journal
 * is.
 */
function pointsOf(lines: readonly string[]): Point[] {
  const from = isThorough
    ? lines.findIndex((line) => line.includes('journal.db'))
    : lines.findLastIndex((line) => line.includes('journal.db-shm"') && line.startsWith('openat'));
  const counts = new Map<string, number>();
  return lines.flatMap((line, at) => {
    const call = /^(\w+)\(/.exec(line)?.[1];
    if (call === undefined || call === 'openat') return [];
    const when = (counts.get(call) ?? 0) + 1;
    counts.set(call, when);
    // Threads wake each other with such writes.
    const isWaking = /^write\(\d+, "(?:\*|\\1\\0)/.test(line);
    const isLeftOut = at < from || isWaking || (!isThorough && call === 'pwrite64');
    return isLeftOut ? [] : [{ call, when }];
  });
}
