import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Effort } from './table.ts';

export const program = fileURLToPath(new URL('../bin/errand.js', import.meta.url));
export const bare = (name: string): string => fileURLToPath(new URL(`./bare/${name}`, import.meta.url));

export interface Run extends Effort {
  /** Of its processor, all threads together. */
  readonly cpuMs: number;
  /** When the first byte came on stdout, ms of `performance.now()`; NaN where stdout is a file. */
  readonly firstAt: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** File for stdout; without it stdout comes back, or is dropped with `discard`. */
  readonly into?: string;
  readonly discard?: boolean;
  /** File for stdin. */
  readonly input?: string;
  /** Exit codes that are as they should be. */
  readonly codes?: readonly number[];
  /** On a terminal of its own, by `script`. */
  readonly onTerminal?: boolean;
}

/** Runs `node ARGS` to its end and measures it. @throws Error where it fails. */
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

/** Two runs beside each other: on a machine whose speed changes no others compare. */
export interface Pair<Own extends Timed = Timed, Other extends Timed = Timed> {
  readonly own: Own;
  readonly other: Other;
}

type Work = () => Promise<Timed>;
type Results<Works extends readonly Work[]> = { [At in keyof Works]: Awaited<ReturnType<Works[At]>>[] };

/** Each several times, in turn. @returns the runs of each, in the order given. */
export async function inRounds<const Works extends readonly Work[]>(
  rounds: number,
  ...works: Works
): Promise<Results<Works>> {
  const runs = works.map((): Timed[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, work] of works.entries()) runs[index]?.push(await work());
  // One list for each work, of what it gives.
  return runs as Results<Works>;
}

/** The runs of each round; first that of the least time beside the other. */
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

/** The one of several runs whose time is in the middle, with the highest peak of all. */
export function middleOf(runs: readonly Run[]): Run {
  const sorted = runs.toSorted((one, other) => one.ms - other.ms);
  return { ...middle(sorted), peak: highestPeak(runs) };
}

/** Bytes. */
export const highestPeak = (runs: readonly Run[]): number => Math.max(...runs.map(({ peak }) => peak));

/** Of what is sorted. @throws Error where nothing is there. */
export function middle<T>(sorted: readonly T[]): T {
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('at least one round');
  return found;
}
