import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Effort } from './table.ts';

export const program = fileURLToPath(new URL('../bin/errand.js', import.meta.url));
export const bare = (name: string): string => fileURLToPath(new URL(`./bare/${name}`, import.meta.url));

export interface Run extends Effort {
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
  return {
    ms: performance.now() - began,
    peak: Number(readFileSync(peakFile, 'utf8')),
    firstAt,
    stdout,
    stderr,
  };
}

/** Several runs as one: see `middleOf`. */
export async function middle(rounds: number, once: () => Promise<Run>): Promise<Run> {
  const runs: Run[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await once());
  return middleOf(runs);
}

/** The one of several runs whose time is in the middle, with the highest peak of all. */
export function middleOf(runs: readonly Run[]): Run {
  const sorted = runs.toSorted((one, other) => one.ms - other.ms);
  const found = sorted[Math.floor(runs.length / 2)];
  if (!found) throw new Error('at least one round');
  return { ...found, peak: Math.max(...runs.map(({ peak }) => peak)) };
}
