import { join } from 'node:path';
import { DatabaseProxy } from '../../postgres/proxy.ts';
import { fingerprintOf, makeKey } from '../../support/approval-workspace.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import { attempt, type Ended } from '../attempt.ts';
import { liesOf, outcomeOf } from '../lies.ts';
import { FaultProxy, type Moment } from '../proxy.ts';
import { Random } from '../random.ts';
import { createArgs, isDone, nextStep, savePolicy, uploadArgs, type World } from '../run.ts';
import type { Service } from '../service.ts';
import { brokenDatabase, endLeases } from './database.ts';
import { brokenCopies, type Machine, makeMachine } from './machine.ts';
import { patiently } from './patiently.ts';
import { type DatabaseFault, type TeamScenario, teamScenarioOf } from './scenario.ts';

export interface TeamReport {
  readonly seed: number;
  /** One per intended order. */
  readonly intents: readonly string[];
  readonly scenario: TeamScenario;
  readonly attempts: readonly Ended[];
  /** Problems found along the way; empty if there were none. */
  readonly lies: readonly string[];
}

/** The server may crash repeatedly meanwhile, and an attempt that finds it down counts too. */
const mostAttempts = 30;
const rowsInFile = 3;
/** How long a user waits after being told the database is down, ms. */
const pauseMs = 200;

/** Runs one intent through a team scenario, acting as careful users on its machines until it is known to be done. */
export async function runTeamIntent(
  server: PostgresServer,
  world: World & Pick<Service, 'paidOrders'>,
  seed: number,
  given?: TeamScenario,
): Promise<TeamReport> {
  const random = new Random(seed);
  const scenario = given ?? teamScenarioOf(random);
  const { what } = scenario;
  const intents =
    what === 'csv' ? Array.from({ length: rowsInFile }, (_, row) => `team-${seed}-${row}`) : [`team-${seed}`];
  const database = await patiently(() => server.newDatabase());
  const before = await DatabaseProxy.start(server.port);
  const service = new FaultProxy(world.baseUrl);
  const machineOf = {
    baseUrl: await service.start(),
    key: world.key,
    database: before.url(database.url),
  };
  const machines = Array.from({ length: scenario.machines }, () => makeMachine(machineOf));
  const attempts: Ended[] = [];
  const lies: string[] = [];
  let signer = '';
  const report = { seed, intents, scenario, attempts, lies };
  try {
    for (const machine of machines) await withPolicy(machine);
    service.faults = [...scenario.faults];
    let args: readonly string[] | undefined;
    for (let turn = 0; turn < mostAttempts; turn += 1) {
      const at = turn % machines.length;
      const own = machines[at];
      if (!own) throw new Error('no machine');
      const create = createOn(own);
      const blow = scenario.blows[turn];
      const hurting = hurtDatabase(before, scenario.databaseFaults[turn]);
      const common = { environment: own.environment, proxy: service, onMoment: hurting.onMoment };
      const others = turn === 0 ? scenario.crowd - 1 : 0;
      const all = await Promise.all([
        attempt({ ...common, args: args ?? create, blow }),
        ...Array.from({ length: others }, (_, index) => {
          const machine = machines[(at + index + 1) % machines.length] ?? own;
          return attempt({ ...common, args: createOn(machine), environment: machine.environment });
        }),
      ]);
      await hurting.heal();
      const isFirst = attempts.length === 0;
      attempts.push(...all);
      const around = { isHurt: false, isAlone: isFirst && all.length === 1 };
      for (const ended of all) lies.push(...(await liesOf(world, what, intents, ended, around)));
      if (all.some(({ signal }) => signal === 'SIGKILL') && blow?.signal !== 'SIGKILL')
        lies.push(`did not end: ${all.map(({ stderr }) => stderr).join(' ')}`);
      if (all.some(isDone)) return await whole();
      if (scenario.leasesEnd || turn > 0) await patiently(() => endLeases(database));
      if (all.every(({ code }) => code === 9)) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (scenario.thrownAway) {
        own.remove();
        const fresh = makeMachine(machineOf);
        machines[at] = fresh;
        await withPolicy(fresh, false);
      }
      const next = machines[(turn + 1) % machines.length] ?? own;
      args = undefined;
      const lost = await givenUp(all[0], { ...common, environment: next.environment });
      if (lost === 'paid') return await whole();
      if (lost === 'unpaid') args = [...createOn(next), '--new'];
      if (lost || scenario.sameAgain) continue;
      const step = await nextStep(
        { sameAgain: false, otherProfile: false },
        { ...common, environment: next.environment },
        createOn(next),
        all[0],
      );
      if (step === 'done') return await whole();
      args = step;
    }
    return { ...report, lies: [...lies, `not done after ${mostAttempts} attempts`] };
  } finally {
    await Promise.all([service.stop(), before.close()]);
    for (const machine of machines) machine.remove();
    await patiently(() =>
      server.database('postgres').run(`DROP DATABASE IF EXISTS ${database.name} WITH (FORCE)`),
    );
  }

  /**
   * Does what the message says where the machine that paid for an order is gone: forgets its record, and looks whether it
   * was paid. @returns undefined if that was not the message.
   */
  async function givenUp(
    ended: Ended | undefined,
    common: Parameters<typeof nextStep>[1],
  ): Promise<'paid' | 'unpaid' | undefined> {
    const { code: why = null, idempotency_key: key } = (ended && outcomeOf(ended)) ?? {};
    if (!(scenario.thrownAway && what === 'paid' && key)) return undefined;
    if (why !== 'not_proven' && why !== 'duplicate_unknown') return undefined;
    if (why === 'not_proven') {
      const { code, stderr } = await attempt({ ...common, args: ['order', 'journal', 'forget', key] });
      if (code !== 0) {
        if (code !== 9) lies.push(`not forgotten: exit ${code}: ${stderr}`);
        return undefined;
      }
    }
    const paid = await world.paidOrders();
    return paid.some(({ metadata }) => metadata?.intent === intents[0]) ? 'paid' : 'unpaid';
  }

  function createOn({ folder }: Machine): readonly string[] {
    return what === 'csv'
      ? uploadArgs(world, intents, join(folder, 'orders.csv'))
      : createArgs(world, what, intents[0] ?? '', scenario.ownKey ? `key-${seed}` : undefined);
  }

  /** Gives the machine the policy file, and the publisher's fingerprint; the first machine publishes it. */
  async function withPolicy(machine: Machine, publishes = machine === machines[0]): Promise<void> {
    if (!scenario.policy) return;
    const file = savePolicy(machine.config, intents.length);
    if (publishes) await publish(machine, file);
    machine.environment.ERRAND_POLICY_SIGNER = signer;
  }

  async function publish(machine: Machine, file: string): Promise<void> {
    const key = makeKey(machine, 'publisher');
    signer = fingerprintOf(key);
    const args = ['policy', 'publish', file, '--key', key, '-o', 'json'];
    await patiently(async () => {
      const { code, stderr } = await attempt({ args, environment: machine.environment, proxy: service });
      if (code !== 0) throw new Error(`the policy was not published: exit ${code}: ${stderr}`);
    });
  }

  async function whole(): Promise<TeamReport> {
    const last = attempts.at(-1);
    const [machine] = machines;
    // After a reported success the journal must list nothing unreported, once a command reaches the database.
    if (machine && last?.code === 0 && attempts.length === 1) {
      const args = ['order', 'journal', 'list', '-o', 'json'];
      await patiently(async () => {
        const { code, stdout, stderr } = await attempt({
          args,
          environment: machine.environment,
          proxy: service,
        });
        if (code === 9) throw new Error(stderr);
        if (code !== 0 || stdout.trim() !== '[]')
          lies.push(`exit 0, and the journal lists: ${code} ${stdout} ${stderr}`);
      });
    }
    const broken = await patiently(() => brokenDatabase(database));
    return { ...report, lies: [...lies, ...machines.flatMap(brokenCopies), ...broken] };
  }
}

interface Hurting {
  readonly onMoment: (moment: Moment) => void;
  heal(): Promise<void>;
}

function hurtDatabase(proxy: DatabaseProxy, fault: DatabaseFault | undefined): Hurting {
  const begun: Promise<void>[] = [];
  const refuse = (): void => void begun.push(proxy.refuse());
  if (fault?.kind === 'refused' && fault.from === 'start') refuse();
  if (fault?.kind === 'bytes') proxy.faultAfter(fault.bytes, fault.end);
  if (fault?.kind === 'commit')
    proxy.faultAt({
      at: /UPDATE errand\.heads SET seq = \d/,
      skip: fault.after,
      arrives: fault.arrives,
      end: fault.end,
    });
  let hasCome = false;
  return {
    onMoment: (moment) => {
      if (hasCome || !fault) return;
      const isNow = 'at' in fault ? fault.at === moment : 'from' in fault && fault.from === moment;
      if (!isNow) return;
      hasCome = true;
      if (fault.kind === 'refused') refuse();
      else if (fault.kind === 'cut') proxy.cut();
      else proxy.silence();
    },
    heal: async () => {
      await Promise.all(begun);
      await proxy.heal();
    },
  };
}
