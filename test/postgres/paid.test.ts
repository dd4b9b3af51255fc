import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { FaultProxy } from '../faults/proxy.ts';
import { Begun } from '../support/begun.ts';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { begin, errand, type Finished } from '../support/run.ts';
import { Till } from '../support/till.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { DatabaseProxy } from './proxy.ts';

describe.skipIf(!hasPostgres)('an order paid by challenge, and a database that is lost', () => {
  const server = useServer();
  let team: TeamDatabase;
  let database: DatabaseProxy;
  let till: Till;
  let proxy: FaultProxy;
  let workspace: Workspace;

  beforeEach(async () => {
    team = await server().newDatabase();
    database = await DatabaseProxy.start(server().port);
    till = await Till.open();
    proxy = new FaultProxy(till.url);
    workspace = machine({
      ERRAND_BASE_URL: await proxy.start(),
      ERRAND_DATABASE_URL: database.url(team.url),
    });
  });
  afterEach(async () => {
    await proxy.stop();
    await till.close();
    await database.close();
  });

  function machine(environment: Record<string, string>): Workspace {
    const made = makeWorkspace({ ERRAND_NO_INPUT: '1', ...environment });
    onTestFinished(() => made.remove());
    writeFileSync(join(made.folder, 'order.json'), JSON.stringify(orderBody(till.product())));
    return made;
  }

  /** A wallet that signals when it is called, and then waits for permission. */
  const wallet = `touch asked; while ! [ -e go ]; do sleep 0.05; done; printf '{"payload":{"signature":"0x1"}}'`;
  const placing = ['agent', 'order', 'create', '--file', 'order.json', '-o', 'json'];
  const byWallet = [...placing, '--method', 'tempo', '--yes', '--pay-command', 'sh wallet.sh'];
  const has = (name: string): boolean => existsSync(join(workspace.folder, name));
  const write = (name: string, text: string): void => writeFileSync(join(workspace.folder, name), text);

  /** Runs `act` at a moment of the paying request, which is the second one. */
  function whenPaying(moment: 'request-came' | 'work-done', act: () => void): void {
    let requests = 0;
    proxy.onMoment = (now) => {
      if (now === 'request-came') requests += 1;
      if (now === moment && requests === 2) act();
    };
  }

  const back = async (): Promise<void> => {
    proxy.onMoment = () => {};
    await database.accept();
    await team.run(
      `UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
       UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal')`,
    );
  };
  /** Settles open records from another machine. */
  const settleElsewhere = (): Promise<Finished> => {
    const { ERRAND_BASE_URL = '' } = workspace.environment;
    const other = machine({ ERRAND_BASE_URL, ERRAND_DATABASE_URL: team.url });
    return errand(other, ['order', 'journal', 'resume', '--all', '-o', 'json']);
  };
  const states = async (): Promise<unknown[]> =>
    (await team.rows<{ state: string }>('SELECT state FROM errand.intents')).map(({ state }) => state);
  const errorIn = ({ stderr }: Finished) =>
    JSON.parse(stderr.split('\n').findLast((line) => line.startsWith('{')) ?? '{}').error;

  test('gone once the price is known: nothing is paid, and nothing is sent', async () => {
    proxy.onMoment = (moment) => {
      if (moment === 'work-done') void database.refuse();
    };
    const ended = await errand(workspace, placing);
    expect([ended.code, errorIn(ended)?.outcome], ended.stderr).toEqual([9, 'not_sent']);
    expect([till.requested, till.paid, await till.orders()]).toEqual([1, [], 0]);
  });

  test('gone while the wallet pays: nothing is sent, which is said, and the same again is another payment', async () => {
    write('wallet.sh', wallet);
    const child = begin(workspace, 'errand', byWallet);
    const output: string[] = [];
    child.stderr.on('data', (text) => output.push(String(text)));
    child.stdin.end();
    await expect.poll(() => has('asked')).toBe(true);
    await database.refuse();
    write('go', '');
    const [code] = await once(child, 'close');
    expect([code, output.join('')]).toEqual([
      6,
      expect.stringContaining('was paid by tempo, and the order was not sent'),
    ]);
    expect([till.paid, await till.orders()]).toEqual([[], 0]);
    await back();
    expect((await errand(workspace, byWallet)).code).toBe(0);
    expect(till.paid).toHaveLength(1);
    expect((await states()).toSorted()).toEqual(['refused', 'reported']);
  });

  test.each(['reset-after', 'silence-after'] as const)(
    'gone with the response (%s): its machine settles it with the same payment, as one order, and no other does',
    async (fault) => {
      proxy.faults = ['none', fault];
      whenPaying('work-done', () => {
        void database.refuse();
        begun.passDeadline();
      });
      const begun = new Begun(workspace, [...placing, '--timeout', '30m', '--retries', '0']);
      const lost = await begun.ended();
      expect([lost.code, errorIn(lost)?.outcome], lost.stderr).toEqual([10, 'unknown']);
      await back();
      const elsewhere = await settleElsewhere();
      expect([elsewhere.code, elsewhere.stderr]).toEqual([
        5,
        expect.stringContaining('only the machine that paid for it settles it'),
      ]);
      const settled = await errand(workspace, ['order', 'journal', 'resume', '--all']);
      expect(settled.code, settled.stderr).toBe(0);
      expect(new Set(till.paid).size).toBe(1);
      expect([await till.orders(), await states()]).toEqual([1, ['reported']]);
    },
  );

  test.each(['request-came', 'work-done'] as const)(
    'gone, and the process killed at %s: its machine makes it one order, paid once, and no other does',
    async (moment) => {
      const child = begin(workspace, 'errand', placing);
      child.stdin.end();
      whenPaying(moment, () => {
        void database.refuse();
        child.kill('SIGKILL');
      });
      await once(child, 'close');
      await back();
      const elsewhere = await settleElsewhere();
      expect([elsewhere.code, elsewhere.stderr]).toEqual([
        5,
        expect.stringContaining('only the machine that paid for it settles it'),
      ]);
      const settled = await errand(workspace, ['order', 'journal', 'resume', '--all']);
      expect(settled.code, settled.stderr).toBe(0);
      expect(new Set(till.paid).size).toBe(1);
      expect([await till.orders(), await states()]).toEqual([1, ['reported']]);
    },
  );

  test('a reference is one order of all machines that share the database, paid once, and that is said', async () => {
    const { ERRAND_BASE_URL = '' } = workspace.environment;
    const machines = Array.from({ length: 3 }, () =>
      machine({ ERRAND_BASE_URL, ERRAND_DATABASE_URL: team.url }),
    );
    const named = [...placing, '--reference', 'REQ-1'];
    const all = await Promise.all(machines.map((one) => errand(one, named)));
    const said = all.map(({ stderr }) => stderr).join('\n');
    expect(
      all.map(({ code }) => code).filter((code) => ![0, 5, 9].includes(Number(code))),
      said,
    ).toEqual([]);
    expect(said.split('only the shared database knows the reference REQ-1')).toHaveLength(2);
    const again = await Promise.all(machines.map((one) => errand(one, named)));
    const told = again.map(({ stderr }) => stderr).join('\n');
    expect(again.map(({ code }) => code).toSorted(), told).toEqual([0, 9, 9]);
    const id = again.flatMap(({ code, stdout }) => (code === 0 ? [JSON.parse(stdout).id] : []))[0];
    expect(told.split(`the order ${id} was paid for by another machine`)).toHaveLength(3);
    expect([new Set(till.paid).size, await till.orders()]).toEqual([1, 1]);
  });
});
