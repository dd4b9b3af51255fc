import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attempt, type Ended } from '../faults/attempt.ts';
import { outcomeOf } from '../faults/lies.ts';
import { FaultProxy, type Moment } from '../faults/proxy.ts';
import { isDone } from '../faults/run.ts';
import { type Service, startService } from '../faults/service.ts';
import { subjects } from '../faults/subjects.ts';
import { brokenDatabase } from '../faults/team/database.ts';
import { brokenCopies, type Machine, makeMachine } from '../faults/team/machine.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { DatabaseProxy } from './proxy.ts';

/**
 * How the database is lost, and from which moment; `refused` lasts until the command ends, while after a `cut` it is
 * reachable again at once.
 */
const losses = [
  ['refused', 'request-came'],
  ['cut', 'work-done'],
] as const;

describe.skipIf(!hasPostgres)('with the database gone', () => {
  const server = useServer();
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.stop());

  interface Scene {
    readonly database: TeamDatabase;
    readonly proxy: DatabaseProxy;
    readonly way: FaultProxy;
    readonly key: string;
    readonly machines: readonly [Machine, Machine];
    run(machine: Machine, args: readonly string[], onMoment?: (moment: Moment) => void): Promise<Ended>;
    end(): Promise<void>;
  }

  async function scene(): Promise<Scene> {
    const [database, key] = await Promise.all([server().newDatabase(), service.mint()]);
    const proxy = await DatabaseProxy.start(server().port);
    const way = new FaultProxy(service.baseUrl);
    const of = { baseUrl: await way.start(), key, database: proxy.url(database.url) };
    const machines = [makeMachine(of), makeMachine(of)] as const;
    return {
      database,
      proxy,
      way,
      key,
      machines,
      run: ({ environment }, args, onMoment) => attempt({ args, environment, proxy: way, onMoment }),
      end: async () => {
        await Promise.all([proxy.close(), way.stop()]);
        for (const machine of machines) machine.remove();
      },
    };
  }

  /** What the journal still owes the user, as seen from a machine. */
  async function owedOn(at: Scene, machine: Machine): Promise<unknown> {
    const { code, stdout, stderr } = await at.run(machine, ['order', 'journal', 'list', '-o', 'json']);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  async function expectWhole({ database, machines }: Scene): Promise<void> {
    expect(machines.flatMap(brokenCopies)).toEqual([]);
    expect(await brokenDatabase(database)).toEqual([]);
  }

  test.each(subjects.map((subject) => [subject.name, subject] as const))(
    'before the send %s sends nothing, ends with 9 and one sentence, and does its work the next time',
    async (_, subject) => {
      const at = await scene();
      const [machine] = at.machines;
      try {
        const { args, meant, count } = await subject.make(service, at.key, machine.folder, (line) =>
          at.run(machine, line),
        );
        const before = await count();
        for (const isFirst of [true, false]) {
          // The first time it was never reached; the second time there is a local copy.
          if (!isFirst) expect(await owedOn(at, machine)).toEqual([]);
          await at.proxy.refuse();
          const ended = await at.run(machine, args);
          await at.proxy.accept();
          expect(ended.code, ended.stderr).toBe(9);
          // Ids alone come with errors in words.
          if (args.includes('id')) expect(ended.stderr).toContain('; nothing was sent');
          else {
            expect(outcomeOf(ended)).toMatchObject({ outcome: 'not_sent' });
            expect(ended.stderr.trim().split('\n')).toHaveLength(1);
          }
          expect(await count()).toBe(before);
        }
        const again = await at.run(machine, args);
        expect(again.code, again.stderr).toBe(0);
        expect(await count()).toBe(meant);
        await expectWhole(at);
      } finally {
        await at.end();
      }
    },
  );

  const after = subjects.flatMap((subject) =>
    losses.map(([loss, moment]) => [subject.name, loss, moment, subject] as const),
  );

  test.each(after)(
    '%s tells what was made though the database is %s once the request is at the service (%s), and the next command brings it home',
    async (name, loss, moment, subject) => {
      const at = await scene();
      const [machine, other] = at.machines;
      try {
        const { args, meant, count } = await subject.make(service, at.key, machine.folder, (line) =>
          at.run(machine, line),
        );
        let gone: Promise<void> | undefined;
        // For an order paid by challenge, the first request only fetches the challenge.
        let before = name === 'agent order create' ? 1 : 0;
        const ended = await at.run(machine, args, (now) => {
          if (now !== moment || gone || before-- > 0) return;
          gone = loss === 'refused' ? at.proxy.refuse() : Promise.resolve(at.proxy.cut());
        });
        await gone;
        await at.proxy.accept();
        expect(gone).toBeDefined();
        // The second one cannot be recorded, so it is not sent.
        const isHalf = (name === 'bulk upload' || name === 'bulk return') && loss === 'refused';
        if (!isHalf) expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)]);
        expect(ended.stderr).not.toMatch(/in doubt/);
        const last = isHalf ? await at.run(machine, args) : ended;
        expect(isDone(last), last.stderr).toBe(true);
        expect(await owedOn(at, machine)).toEqual([]);
        expect(await owedOn(at, other)).toEqual([]);
        expect(await count()).toBe(meant);
        await expectWhole(at);
      } finally {
        await at.end();
      }
    },
  );
});
