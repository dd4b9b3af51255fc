import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Place } from './place.ts';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line in bash at a place, as a person's shell would: no terminal, stdin as given or empty. */
export function shell(
  place: Place,
  line: string,
  options: { stdin?: string; timeoutMs?: number } = {},
): Promise<Finished> {
  return run(place, 'bash', ['-o', 'pipefail', '-c', line], options);
}

/** Runs the program with exact arguments. */
export function errand(
  place: Place,
  args: readonly string[],
  options: { stdin?: string; timeoutMs?: number } = {},
): Promise<Finished> {
  return run(place, 'errand', args, options);
}

/** Places an order of a product that rehearses an outcome: `test-slow`. @returns its id. */
export async function orderOf(place: Place, slug: string): Promise<string> {
  const url = `$(errand sandbox products -o id | grep ${slug}$)`;
  const create = `errand order create --product "${url}" --max-price '$50' --ship-to home --new -o id`;
  return (await shell(place, create)).stdout.trim();
}

/** Starts a program at a place; whoever calls reads what it prints. */
export const begin = (
  place: Place,
  command: string,
  args: readonly string[],
): ChildProcessWithoutNullStreams =>
  spawn(command, args, { cwd: place.folder, env: place.environment, stdio: 'pipe' });

function run(
  place: Place,
  command: string,
  args: readonly string[],
  { stdin = '', timeoutMs = 25_000 }: { stdin?: string; timeoutMs?: number },
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = begin(place, command, args);
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
    child.stdin.end(stdin);
  });
}
