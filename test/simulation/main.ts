/**
 * Plays histories in a simulation that their seeds decide: `npm run simulate -- --seed 1 --histories 1000`. What failed is
 * played again by its seed alone. With `--weeks`, each history is weeks of standing orders on `--machines`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { doorsNamed } from '../faults/needs/doors.ts';
import { type Order, type Outcome, prepared, simulate } from './worker.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    histories: { type: 'string', default: '1' },
    doors: { type: 'string', default: 'reference,single,upload,plan,retry,mcp,library,legacy,agent' },
    workers: { type: 'string', default: String(availableParallelism()) },
    weeks: { type: 'string' },
    machines: { type: 'string', default: '5' },
    /** A file that keeps how far a range of seeds has come; the same command goes on there. */
    progress: { type: 'string' },
  },
});

interface Progress {
  next: number;
  histories: number;
  commands: number;
  /** A number that differs if anything happened otherwise in any of them. */
  trace: number;
  failed: number[];
  seconds: number;
}

/** Simulates what the parent asks for. */
async function work(): Promise<void> {
  const [built, remove] = await prepared();
  process.on('disconnect', () => {
    remove();
    process.exit();
  });
  process.on('message', async (order: Order) => {
    const crashed = (error: unknown): Outcome => ({
      ...{ seed: order.seed, commands: 0, steps: 0, trace: 0 },
      finding: [`the simulation itself failed: ${error instanceof Error ? error.stack : error}`],
    });
    process.send?.(await simulate(order, built).catch(crashed));
  });
  process.send?.('ready');
}

/** @returns whether nothing was found. */
async function direct(): Promise<boolean> {
  const doors = doorsNamed(values.doors);
  const first = Number(values.seed);
  const end = first + Number(values.histories);
  const { progress: file, weeks, machines } = values;
  const what = { doors, ...(weeks !== undefined && { weeks: Number(weeks), machines: Number(machines) }) };
  const progress: Progress =
    file !== undefined && existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8'))
      : { next: first, histories: 0, commands: 0, trace: 0, failed: [], seconds: 0 };
  const before = progress.seconds;
  const startedAt = performance.now();
  const open = new Set<number>();
  let next = progress.next;
  const report = (outcome: Outcome): void => {
    const { seed, commands, trace, finding } = outcome;
    progress.histories += 1;
    progress.commands += commands;
    // Workers end in any order.
    progress.trace = (progress.trace + Math.imul(trace, 2 * seed + 1)) >>> 0;
    if (finding) {
      progress.failed.push(seed);
      console.log([`seed ${seed}:`, ...finding.map((line) => `  ${line}`)].join('\n'));
    }
    progress.seconds = before + (performance.now() - startedAt) / 1000;
    progress.next = Math.min(next, ...open);
    if (file !== undefined) writeFileSync(file, JSON.stringify(progress));
  };
  await Promise.all(
    Array.from({ length: Math.min(Number(values.workers), end - next) }, async () => {
      const worker = started();
      await messageOf(worker);
      while (next < end) {
        const seed = next;
        next += 1;
        open.add(seed);
        worker.send({ seed, ...what } satisfies Order);
        const outcome = await messageOf(worker);
        open.delete(seed);
        report(outcome);
      }
      worker.disconnect();
    }),
  );
  const { histories, commands, failed, seconds, trace } = progress;
  const rate = (commands / seconds).toFixed(1);
  console.log(
    `${histories} histories, ${commands} commands in ${Math.round(seconds)} s (${rate} a second): ` +
      `${failed.length} failed; trace ${trace.toString(16)}`,
  );
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
  return failed.length === 0;
}

/** What a history leaves is young when it ends, and goes with one short collection. */
const execArgv = ['--import', 'tsx', '--max-semi-space-size=64'];

const started = (): ChildProcess => fork(fileURLToPath(import.meta.url), { execArgv });

function messageOf(worker: ChildProcess): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => reject(new Error(`a worker ended with ${code}`));
    worker.once('exit', gone);
    worker.once('message', (message) => {
      worker.off('exit', gone);
      resolve(message as Outcome);
    });
  });
}

if (process.send) await work();
else process.exitCode = (await direct()) ? 0 : 1;
