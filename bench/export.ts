import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { middle, program, type Run, run } from './program.ts';
import { type BenchSandbox, fillWithOrders, startSandbox } from './sandbox.ts';
import { growth, median, type Row, timeBeside } from './table.ts';

const rounds = 3;

/** The export as it comes and with its cells made safe, beside `curl -o`. */
export async function measure(folder: string): Promise<Row[]> {
  const small = await exported(folder, 20_000);
  const large = await exported(folder, 200_000);
  const curl = { name: 'curl -o', ms: large.curlMs };
  return [
    timeBeside('order export, 200,000 orders', large.safe.ms, curl, 1.1),
    timeBeside('order export --raw-csv', large.raw.ms, curl, 1.1),
    ...growth('order export', small.safe, large.safe),
  ];
}

async function exported(folder: string, count: number): Promise<{ safe: Run; raw: Run; curlMs: number }> {
  const place = join(folder, String(count));
  mkdirSync(place);
  const sandbox = await startSandbox(place);
  try {
    await fillWithOrders(sandbox, count);
    const into = join(place, 'out');
    const own = (...more: string[]): Promise<Run> =>
      middle(rounds, () =>
        run([program, 'order', 'export', ...more], { folder: place, env: sandbox.env, into }),
      );
    return { curlMs: curl(sandbox, into), safe: await own(), raw: await own('--raw-csv') };
  } finally {
    await sandbox.stop();
  }
}

const curl = ({ baseUrl, headers }: BenchSandbox, into: string): number =>
  median(
    Array.from({ length: rounds }, () => {
      const began = performance.now();
      const header = `authorization: ${headers.authorization}`;
      execFileSync('curl', ['-sf', '-o', into, '-H', header, `${baseUrl}/orders/export`]);
      return performance.now() - began;
    }),
  );
