import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LimitedService, type Limits } from '../test/postgres/limited-service.ts';
import { PostgresServer } from '../test/support/postgres.ts';
import { writeOrdersCsv } from './orders-csv.ts';
import { program, run } from './program.ts';
import { fillWallet, startSandbox } from './sandbox.ts';
import { atMost, type Row, timeBeside } from './table.ts';

/** Response time of the service, ms: long compared with its work, so that the service's CPU is not the bottleneck. */
const latencyMs = 3_000;
const requestsPerSecond = 20;

/** A campaign across several workers, and the rate they sustain. Set ROWS=200000 for the long form. */
export async function measure(folder: string): Promise<Row[]> {
  const rows = Number(process.env.ROWS ?? 20_000);
  const server = await PostgresServer.start();
  const uploaded = (workers: number, limits: Limits, ...args: string[]) =>
    campaign(join(folder, `${workers}-${limits.perSecond ?? 0}`), server, { workers, rows, limits, args });
  try {
    const one = await uploaded(1, { latencyMs });
    const four = await uploaded(4, { latencyMs });
    const paced = await uploaded(4, { perSecond: requestsPerSecond }, '--batch-size', '50');
    const seen = paced.service.passed.length + paced.service.refused.length;
    const name = `bulk upload --share, ${rows.toLocaleString('en-US')} rows`;
    return [
      timeBeside(`${name}, 4 workers`, four.ms, { name: '1 worker', ms: one.ms }, 0.4),
      atMost(
        `its requests beyond ${requestsPerSecond} a second`,
        (paced.service.refused.length / (seen - paced.service.refused.length)) * 100,
        5,
        '%',
      ),
      { name: 'its pace under that budget', figure: `${(seen / (paced.ms / 1000)).toFixed(1)} a second` },
    ];
  } finally {
    await server.remove();
  }
}

async function campaign(
  folder: string,
  server: PostgresServer,
  {
    workers,
    rows,
    limits,
    args,
  }: {
    readonly workers: number;
    readonly rows: number;
    readonly limits: Limits;
    readonly args: readonly string[];
  },
): Promise<{ readonly ms: number; readonly service: LimitedService }> {
  mkdirSync(folder);
  const sandbox = await startSandbox(folder);
  const service = new LimitedService(sandbox.baseUrl, limits);
  try {
    await fillWallet(sandbox);
    const file = join(folder, 'december.csv');
    // A ceiling below any price: this measures the upload, not the purchases.
    await writeOrdersCsv(file, rows, `${sandbox.baseUrl}/shop/test-price-exceeded`, 1);
    const { url } = await server.newDatabase();
    const shared = { ...sandbox.env, ERRAND_BASE_URL: await service.start(), ERRAND_DATABASE_URL: url };
    const began = performance.now();
    await Promise.all(
      Array.from({ length: workers }, (_, at) => {
        const own = join(folder, `worker-${at}`);
        mkdirSync(own);
        const env = {
          ...shared,
          ERRAND_STATE_DIR: join(own, 'state'),
          ERRAND_CONFIG_DIR: join(own, 'config'),
        };
        return run([program, 'bulk', 'upload', file, '--share', ...args, '-o', 'ndjson'], {
          folder: own,
          env,
        });
      }),
    );
    return { ms: performance.now() - began, service };
  } finally {
    await service.stop();
    await sandbox.stop();
  }
}
