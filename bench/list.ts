import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openGate } from '../test/support/gate.ts';
import { bare, inRounds, middleOf, type Pair, pairs, program, type Run, run } from './program.ts';
import { type BenchSandbox, fillWithOrders, startSandbox } from './sandbox.ts';
import { atMost, growth, type Row, timeBeside } from './table.ts';

const rounds = 5;
const listing = [program, 'order', 'list', '--all', '-o', 'ndjson'];

/** Lists many orders, against a bare loop over the same pages. */
export async function measure(folder: string): Promise<Row[]> {
  const small = await listed(folder, 20_000);
  const large = await listed(folder, 200_000);
  return [
    timeBeside(
      `order list --all -o ndjson, 200,000 orders, the worst of ${rounds} pairs`,
      large.worst.own.ms,
      { name: 'a bare undici loop', ms: large.worst.other.ms },
      1.3,
    ),
    atMost('its first row after the first byte', large.firstRowMs, 150, 'ms'),
    atMost('its peak memory', large.own.peak / 2 ** 20, 150, 'MB'),
    ...growth('order list --all', small.own, large.own),
  ];
}

interface Listed {
  /** The run of median time, with the highest peak of all runs. */
  readonly own: Run;
  /** The pair with the worst ratio to the bare loop. */
  readonly worst: Pair;
  readonly firstRowMs: number;
}

async function listed(folder: string, count: number): Promise<Listed> {
  const place = join(folder, String(count));
  mkdirSync(place);
  const sandbox = await startSandbox(place);
  try {
    await fillWithOrders(sandbox, count);
    const into = join(place, 'out');
    const loopArgs = [
      bare('undici-pages.mjs'),
      sandbox.baseUrl,
      sandbox.headers.authorization ?? '',
      String(count),
    ];
    const [own, loop] = await inRounds(
      rounds,
      () => run(listing, { folder: place, env: sandbox.env, into }),
      () => run(loopArgs, { folder: place, into }),
    );
    const worst = pairs(own, loop).at(-1);
    if (!worst) throw new Error('at least one round');
    return { own: middleOf(own), worst, firstRowMs: await firstRow(place, sandbox) };
  } finally {
    await sandbox.stop();
  }
}

async function firstRow(folder: string, { baseUrl, env }: BenchSandbox): Promise<number> {
  const gate = await openGate(baseUrl);
  try {
    const { firstAt } = await run(listing, {
      folder,
      env: { ...env, ERRAND_BASE_URL: gate.baseUrl },
      discard: true,
    });
    return firstAt - gate.firstByteAt();
  } finally {
    gate.close();
  }
}
