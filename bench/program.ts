import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Effort } from './table.ts';

export const program = fileURLToPath(new URL('../bin/errand.js', import.meta.url));
export const bare = (name: string): string => fileURLToPath(new URL(`./bare/${name}`, import.meta.url));

export interface Run extends Effort {
  /** CPU time of the process, all threads combined. */
  readonly cpuMs: number;
  /** When the first byte arrived on stdout, in ms of `performance.now()`; NaN if stdout is a file. */
  readonly firstAt: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** File to receive stdout; otherwise stdout is returned, or dropped with `discard`. */
  readonly into?: string;
  readonly discard?: boolean;
  /** File for stdin. */
  readonly input?: string;
  /** Acceptable exit codes. */
  readonly codes?: readonly number[];
  /** Run in a pseudo-terminal, via `script`. */
  readonly onTerminal?: boolean;
}

/** Runs `node ARGS` to completion and measures it. @throws Error if it fails. */
export async function run(
  args: readonly string[],
  { folder, env = {}, into, input, discard = false, codes = [0], onTerminal = false }: RunOptions,
): Promise<Run> {
  const peakFile = join(folder, 'peak');
  const began = performance.now();
  const line = [process.execPath, '--require', bare('peak.cjs'), ...args];
  const inTerminal = ['-qec', line.map((word) => `'${word}'`).join(' '), '/dev/null'];
  const child = spawn(onTerminal ? 'script' : process.execPath, onTerminal ? inTerminal : line.slice(1), {
    env: { ...process.env, ...env, BENCH_PEAK: peakFile },
    stdio: [
      input === undefined ? 'ignore' : openSync(input, 'r'),
      into === undefined ? 'pipe' : openSync(into, 'w'),
      'pipe',
    ],
  });
  let [stdout, stderr, firstAt] = ['', '', Number.NaN];
  child.stdout?.on('data', (chunk: Buffer) => {
    if (Number.isNaN(firstAt)) firstAt = performance.now();
    if (!discard) stdout += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-100_000);
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (!codes.includes(Number(code))) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  const ms = performance.now() - began;
  const [peak = 0, cpuMs = 0] = readFileSync(peakFile, 'utf8').split(' ').map(Number);
  return {
    ...{ ms, peak, cpuMs },
    firstAt,
    stdout,
    stderr,
  };
}

interface Timed {
  readonly ms: number;
}

/** Two runs from the same round: on a machine of varying speed only those are comparable. */
export interface Pair<Own extends Timed = Timed, Other extends Timed = Timed> {
  readonly own: Own;
  readonly other: Other;
}

type Work = () => Promise<Timed>;
type Results<Works extends readonly Work[]> = { [At in keyof Works]: Awaited<ReturnType<Works[At]>>[] };

/** Runs each work several times, interleaved. @returns the results per work, in argument order. */
export async function inRounds<const Works extends readonly Work[]>(
  rounds: number,
  ...works: Works
): Promise<Results<Works>> {
  const runs = works.map((): Timed[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, work] of works.entries()) runs[index]?.push(await work());
  // One list per work, holding its results.
  return runs as Results<Works>;
}

/** Pairs the runs of each round, sorted by ratio, best first. */
export const pairs = <Own extends Timed, Other extends Timed>(
  own: readonly Own[],
  other: readonly Other[],
): Pair<Own, Other>[] =>
  own
    .flatMap((run, round) => {
      const beside = other[round];
      return beside ? [{ own: run, other: beside }] : [];
    })
    .toSorted((one, two) => one.own.ms / one.other.ms - two.own.ms / two.other.ms);

/** The run of median time, with the highest peak of all runs. */
export function middleOf(runs: readonly Run[]): Run {
  const sorted = runs.toSorted((one, other) => one.ms - other.ms);
  return { ...middle(sorted), peak: highestPeak(runs) };
}

/** Bytes. */
export const highestPeak = (runs: readonly Run[]): number => Math.max(...runs.map(({ peak }) => peak));

/** Median of a sorted list. @throws Error if it is empty. */
export function middle<T>(sorted: readonly T[]): T {
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('at least one round');
  return found;
}
