import type { PostgresServer } from '../../support/postgres.ts';
import { Runner } from '../../support/runner.ts';
import { checkOrders, type Verdict } from '../checker.ts';
import { Random } from '../random.ts';
import { orderArgs } from '../run.ts';
import type { Service } from '../service.ts';
import { brokenDatabase } from './database.ts';
import { brokenCopies, type Machine, makeMachine } from './machine.ts';

export interface IntentRace {
  readonly processes: number;
  /** State directories shared by the processes. */
  readonly machines: number;
  readonly intents: number;
  readonly seed: number;
}

export interface RacedIntents extends Verdict {
  /** Number of commands by exit code. */
  readonly ends: ReadonlyMap<number | null, number>;
  /** Problems other than with the orders. */
  readonly findings: readonly string[];
}

/** Every process places every intent through the built program; half of them in the same sequence. */
export async function raceForIntents(
  service: Service,
  server: PostgresServer,
  { processes, machines, intents, seed }: IntentRace,
): Promise<RacedIntents> {
  const [key, database] = await Promise.all([service.mint(), server.newDatabase()]);
  const made = Array.from({ length: machines }, () =>
    makeMachine({ baseUrl: service.baseUrl, key, database: database.url }),
  );
  const names = Array.from({ length: intents }, (_, index) => `same-${seed}-${index}`);
  const ends = new Map<number | null, number>();
  const findings: string[] = [];
  try {
    await Promise.all(
      Array.from({ length: processes }, (_, index) => {
        const random = new Random(seed * 1000 + index);
        const order = index % 2 === 0 ? names : random.some(names, names.length);
        return orderAll(made[index % machines], order);
      }),
    );
    const verdict = await checkOrders(service.baseUrl, [key], names);
    findings.push(...made.flatMap(brokenCopies));
    findings.push(...(await brokenDatabase(database)));
    const told = await database.rows<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM errand.intents GROUP BY state',
    );
    if (told.length !== 1 || told[0]?.state !== 'reported' || told[0].count !== intents)
      findings.push(`the database has ${JSON.stringify(told)}`);
    if (ends.get(0) !== intents) findings.push(`${ends.get(0)} commands say that they have ordered`);
    return { ...verdict, ends, findings };
  } finally {
    for (const machine of made) machine.remove();
  }

  async function orderAll(machine: Machine | undefined, order: readonly string[]): Promise<void> {
    const runner = new Runner();
    try {
      for (const intent of order) {
        const argv = [
          ...orderArgs(`${service.shopUrl}/test-never`, intent),
          '-o',
          'json',
          '--timeout',
          '60s',
        ];
        const { code, stderr, crash } = await runner.run({ argv, env: machine?.environment ?? {} });
        ends.set(code, (ends.get(code) ?? 0) + 1);
        // A losing process is told that the order exists or is being placed by another.
        if (code !== 0 && code !== 5) findings.push(`exit ${code} ${crash ?? ''}: ${stderr.slice(0, 500)}`);
      }
    } finally {
      await runner.stop();
    }
  }
}
