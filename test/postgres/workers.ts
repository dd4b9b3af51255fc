import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import { FaultProxy } from '../faults/proxy.ts';
import { placesOf } from '../support/places.ts';
import { type TeamDatabase, useServer } from '../support/postgres.ts';
import { begin, errand, type Finished } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const headings = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number';

/** SQL for the number of completed order chunks. */
export const sentChunks =
  "(SELECT count(*) FROM errand.campaign_chunks WHERE kind = 'place' AND result IS NOT NULL)";

/** Street of the order of each row. */
export const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${at} Main St`).toSorted();

/** Four machines sharing a database and a service, set up for each test. */
export class Workers {
  database!: TeamDatabase;
  service!: TestService;
  /** Proxy between all machines and the service. */
  proxy!: FaultProxy;
  machines: Workspace[] = [];

  machine(at: number): Workspace {
    return this.machines[at] ?? expect.fail(`there is no machine ${at}`);
  }

  row = (place: number, price = '1000'): string =>
    `${this.service.product('test-success')},${price},A B,${place} Main St,Austin,TX,78701,US,+15125550100`;

  rows = (count: number): string[] => Array.from({ length: count }, (_, at) => this.row(at));

  /** Writes a file on the machines with these numbers. */
  write = (file: string, table: readonly string[], on: readonly number[] = [0, 1, 2, 3]): void => {
    for (const at of on)
      writeFileSync(join(this.machine(at).folder, file), `${[headings, ...table].join('\n')}\n`);
  };

  run = (machine: number, ...args: string[]): Promise<Finished> => errand(this.machine(machine), args);

  bulk = (machine: number, ...args: string[]): Promise<Finished> => this.run(machine, 'bulk', ...args);

  places = async (): Promise<string[]> => (await placesOf(this.service)).toSorted();

  /** Runs the workers of an upload, each on its own machine. */
  together = (count: number, ...args: string[]): Promise<Finished[]> =>
    Promise.all(
      Array.from({ length: count }, (_, at) => this.bulk(at, 'upload', 'december.csv', '--share', ...args)),
    );

  /** Starts a worker that the test kills in the end. */
  begun = (machine: number, ...args: string[]) => {
    const child = begin(this.machine(machine), 'errand', ['bulk', 'upload', ...args]);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (text) => {
        output[name] += text;
      });
    child.stdin.end();
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close').then(([code]) => ({ code, ...output }));
    return { child, ended, output };
  };

  /** Waits until a condition holds in the database. @param what in SQL. */
  until = async (what: string): Promise<void> => {
    // Before the first worker there are no tables.
    const found = async (): Promise<unknown> =>
      (await this.database.rows<{ is: boolean }>(`SELECT ${what} AS is`).catch(() => []))[0]?.is;
    await expect.poll(found, { message: what }).toBe(true);
  };

  /** Expires all heartbeats, so that the workers count as gone. */
  endSigns = (): Promise<void> => this.database.run("UPDATE errand.workers SET until = 'epoch'");

  /** Expires all leases, so that no one waits for dead workers. */
  endLeases = async (): Promise<void> => {
    await this.endSigns();
    await this.database.run(`UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
      UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal')`);
  };
}

export function useWorkers(): Workers {
  const server = useServer();
  const workers = new Workers();
  beforeEach(async () => {
    workers.database = await server().newDatabase();
    workers.service = await TestService.start({ now: Date.now() });
    workers.proxy = new FaultProxy(workers.service.baseUrl);
    const environment = {
      ERRAND_BASE_URL: await workers.proxy.start(),
      ERRAND_API_KEY: workers.service.key,
      ERRAND_DATABASE_URL: workers.database.url,
    };
    workers.machines = Array.from({ length: 4 }, () => makeWorkspace(environment));
  });
  afterEach(async () => {
    await workers.proxy.stop();
    await workers.service.stop();
    for (const machine of workers.machines) machine.remove();
  });
  return workers;
}
