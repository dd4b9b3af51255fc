import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRounds, middle, middleOf, pairs, program, type Run, run } from './program.ts';
import { type BenchSandbox, fillWithOrders, startSandbox } from './sandbox.ts';
import { growth, type Row, timeBeside } from './table.ts';

const rounds = 3;

/** Times the export, raw and with escaped cells, against `curl -o`. */
export async function measure(folder: string): Promise<Row[]> {
  const small = await exported(folder, 20_000);
  const large = await exported(folder, 200_000);
  const besideCurl = (name: string, runs: readonly Run[]): Row => {
    const { own, other } = middle(pairs(runs, large.curled));
    return timeBeside(name, own.ms, { name: 'curl -o', ms: other.ms }, 1.1);
  };
  return [
    besideCurl('order export, 200,000 orders', large.safe),
    besideCurl('order export --raw-csv', large.raw),
    ...growth('order export', middleOf(small.safe), middleOf(large.safe)),
  ];
}

interface Exported {
  readonly safe: readonly Run[];
  readonly raw: readonly Run[];
  readonly curled: readonly Pick<Run, 'ms'>[];
}

async function exported(folder: string, count: number): Promise<Exported> {
  const place = join(folder, String(count));
  mkdirSync(place);
  const sandbox = await startSandbox(place);
  try {
    await fillWithOrders(sandbox, count);
    const into = join(place, 'out');
    const own =
      (...more: string[]) =>
      () =>
        run([program, 'order', 'export', ...more], { folder: place, env: sandbox.env, into });
    const curl = async () => download(sandbox, into);
    const [safe, curled, raw] = await inRounds(rounds, own(), curl, own('--raw-csv'));
    return { safe, raw, curled };
  } finally {
    await sandbox.stop();
  }
}

function download({ baseUrl, headers }: BenchSandbox, into: string): Pick<Run, 'ms'> {
  const began = performance.now();
  const header = `authorization: ${headers.authorization}`;
  execFileSync('curl', ['-sf', '-o', into, '-H', header, `${baseUrl}/orders/export`]);
  return { ms: performance.now() - began };
}
