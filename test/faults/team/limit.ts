import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprintOf, makeKey } from '../../support/approval-workspace.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import { Runner } from '../../support/runner.ts';
import { orderArgs } from '../run.ts';
import type { Service } from '../service.ts';
import { brokenDatabase } from './database.ts';
import { makeMachine } from './machine.ts';

const processes = 32;
const machines = 4;
/** Number of orders that fit under the limit; each costs its ceiling of one cent plus the one-dollar fee. */
const fitting = 7;

export interface RacedLimit {
  /** Orders that the service has. */
  readonly orders: number;
  readonly findings: readonly string[];
}

/** Repeated races between processes on four machines under a published daily limit. */
export class LimitRaces {
  readonly #runners = Array.from({ length: processes }, () => new Runner());
  readonly #service: Service;
  readonly #server: PostgresServer;

  constructor(service: Service, server: PostgresServer) {
    this.#service = service;
    this.#server = server;
  }

  /** Runs one race for the room under a limit. @param killed how many processes are killed while running. */
  async race(killed: number): Promise<RacedLimit> {
    const service = this.#service;
    const [key, database] = await Promise.all([service.mint(), this.#server.newDatabase()]);
    const made = Array.from({ length: machines }, () =>
      makeMachine({ baseUrl: service.baseUrl, key, database: database.url }),
    );
    const limit = `$${fitting}.${String(fitting).padStart(2, '0')}`;
    const findings: string[] = [];
    try {
      for (const { config } of made)
        writeFileSync(join(config, 'policy.yaml'), `version: 1\nlimits:\n  per_day: ${limit}\n`, {
          mode: 0o600,
        });
      const [first] = made;
      const signingKey = makeKey({ folder: first?.folder ?? '' }, 'publisher');
      for (const { environment } of made) environment.ERRAND_POLICY_SIGNER = fingerprintOf(signingKey);
      const published = await this.#runners[0]?.run({
        argv: [
          'policy',
          'publish',
          join(first?.config ?? '', 'policy.yaml'),
          '--key',
          signingKey,
          '-o',
          'json',
        ],
        env: first?.environment ?? {},
      });
      if (published?.code !== 0) throw new Error(`the policy was not published: ${published?.stderr}`);
      await Promise.all(
        this.#runners.map(async (runner, index) => {
          const argv = orderArgs(`${service.shopUrl}/test-never`, `racer-${index}`);
          const racing = runner.run({
            argv: [...argv, '-o', 'json', '--timeout', '60s'],
            env: made[index % machines]?.environment ?? {},
          });
          if (index < killed) setTimeout(() => runner.stop('SIGKILL'), 20 + 40 * index);
          const { code, stderr } = await racing;
          if (code !== 0 && code !== 11 && code !== null)
            findings.push(`exit ${code}: ${stderr.slice(0, 500)}`);
        }),
      );
      const listed = await fetch(`${service.baseUrl}/orders?limit=500`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { orders }: { orders: unknown[] } = JSON.parse(await listed.text());
      findings.push(...(await brokenDatabase(database)));
      if (orders.length > fitting)
        findings.push(`${orders.length} orders under a limit that ${fitting} fit under`);
      if (killed === 0 && orders.length < fitting)
        findings.push(`only ${orders.length} of ${fitting} orders`);
      return { orders: orders.length, findings };
    } finally {
      for (const machine of made) machine.remove();
    }
  }

  stop(): void {
    for (const runner of this.#runners) runner.stop();
  }
}
