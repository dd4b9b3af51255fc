import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGate } from '../test/support/gate.ts';
import { program, type Run, run } from './program.ts';
import { fillWithOrders, startSandbox } from './sandbox.ts';
import { atMost, growth, type Row, spell } from './table.ts';

/** Watches many orders to completion: counts requests per polling round and checks that every end is reported. */
export async function measure(folder: string): Promise<Row[]> {
  const small = await watched(folder, 1_000);
  const large = await watched(folder, 10_000);
  return [
    { name: 'order watch, 10,000 orders to their end', figure: spell(large.run.ms) },
    atMost('its requests in a round of polling, at most', large.mostInRound, 25, 'requests'),
    {
      name: 'its orders whose end was reported',
      figure: large.ended.toLocaleString('en-US'),
      aim: '10,000',
      isMet: large.ended === 10_000,
    },
    atMost('its peak memory', large.run.peak / 2 ** 20, 200, 'MB'),
    ...growth('order watch', small.run, large.run),
  ];
}

interface Watched {
  readonly run: Run;
  readonly mostInRound: number;
  readonly ended: number;
}

async function watched(folder: string, count: number): Promise<Watched> {
  const place = join(folder, String(count));
  mkdirSync(place);
  const sandbox = await startSandbox(place);
  const gate = await openGate(sandbox.baseUrl);
  try {
    const ids = await fillWithOrders(sandbox, count, { live: true });
    const list = join(place, 'ids');
    writeFileSync(list, ids.join('\n'));
    const env = { ...sandbox.env, ERRAND_BASE_URL: gate.baseUrl };
    const args = [program, 'order', 'watch', '-', '-o', 'ndjson', '--interval', '1s'];
    const done = await run(args, { folder: place, env, input: list, codes: [0, 7] });
    const ended = new Set(
      done.stdout.split('\n').flatMap((line) => {
        const event: unknown = line === '' ? undefined : JSON.parse(line);
        return isEnd(event) ? [event.order.id] : [];
      }),
    );
    return { run: done, mostInRound: largestRound(gate.targets), ended: ended.size };
  } finally {
    gate.close();
    await sandbox.stop();
  }
}

const isEnd = (event: unknown): event is { order: { id: string } } =>
  typeof event === 'object' && event !== null && 'verdict' in event && event.verdict !== 'waiting';

/** Each round starts with the first page of the list. */
function largestRound(targets: readonly string[]): number {
  const rounds: number[] = [];
  for (const target of targets) {
    if (/[?&]offset=[1-9]/.test(target)) rounds.push((rounds.pop() ?? 0) + 1);
    else rounds.push(1);
  }
  return Math.max(0, ...rounds);
}
