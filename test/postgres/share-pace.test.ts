import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand, type Finished } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { LimitedService } from './limited-service.ts';

const headings = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number';

const server = useServer();
let service: TestService;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
});
afterEach(() => service.stop());

/** Workers on separate machines with the same file, at a rate-limited or slow service. */
async function workers(count: number, rows: number, limited: LimitedService): Promise<Workspace[]> {
  const url = await limited.start();
  onTestFinished(() => limited.stop());
  const database = await server().newDatabase();
  const table = Array.from(
    { length: rows },
    (_, at) => `${service.product('test-success')},100,A B,${at} Main St,Austin,TX,78701,US,+15125550100`,
  );
  return Array.from({ length: count }, () => {
    const machine = makeWorkspace({
      ERRAND_BASE_URL: url,
      ERRAND_API_KEY: service.key,
      ERRAND_DATABASE_URL: database.url,
    });
    onTestFinished(() => machine.remove());
    writeFileSync(join(machine.folder, 'december.csv'), `${[headings, ...table].join('\n')}\n`);
    return machine;
  });
}

async function upload(machines: readonly Workspace[], ...args: string[]): Promise<void> {
  const share = ['bulk', 'upload', 'december.csv', '--share', ...args];
  const done: Finished[] = await Promise.all(machines.map((at) => errand(at, share)));
  for (const { code, stderr } of done) expect(code, stderr).toBe(0);
}

describe.skipIf(!hasPostgres)('the workers of an upload go at one pace', () => {
  test('what the service has time for is found out together, and every row is placed', async () => {
    const limited = new LimitedService(service.baseUrl, { perSecond: 2 });
    await upload(await workers(4, 30, limited), '--batch-size', '1');
    const { passed, refused } = limited;
    expect(passed.length).toBeGreaterThanOrEqual(30);
    // Workers discover the limit by exceeding it; `npm run bench -- share` measures how often.
    expect(refused.length).toBeGreaterThan(0);
  });

  test('--rate holds all workers together', async () => {
    const limited = new LimitedService(service.baseUrl, {});
    await upload(await workers(4, 80, limited), '--batch-size', '1', '--rate', '20');
    expect(limited.passed.length).toBeGreaterThanOrEqual(80);
    // Unsynchronized, they would finish within a second.
    const took = Math.max(...limited.passed) - Math.min(...limited.passed);
    expect(took).toBeGreaterThan(3_000);
  });

  // `npm run bench -- share` measures the speedup.
  test('four workers have four times as many requests under way at a service that takes its time', async () => {
    // Far longer than even a busy machine needs to send its maximum of concurrent requests.
    const mostAtOnce = async (count: number, rows: number): Promise<number> => {
      const limited = new LimitedService(service.baseUrl, { latencyMs: 3000 });
      await upload(await workers(count, rows, limited), '--batch-size', '5', '--run', `${count}`);
      return limited.mostAtOnce;
    };
    expect(await mostAtOnce(1, 60)).toBe(4);
    expect(await mostAtOnce(4, 400)).toBeGreaterThan(12);
  });
});
