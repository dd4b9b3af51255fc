import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hangsAfterMs } from '../support/limits.ts';
import { runLine } from '../support/runner.ts';
import type { FaultProxy, Moment } from './proxy.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));
const clockShift = fileURLToPath(new URL('../support/clock-set.cjs', import.meta.url));

/** A signal sent to the running process; `twice` repeats it shortly after, like an impatient user. */
export type Blow = {
  readonly signal: NodeJS.Signals;
  readonly twice?: boolean;
} & ({ readonly at: Moment; readonly afterMs?: number } | { readonly at?: never; readonly afterMs: number });

/** Where stdout goes: a reader, a full disk, or a closed pipe. */
export type Stdout = 'read' | 'full' | 'closed';

/** A failing system call on one of errand's files; `when` counts from 1. */
export interface DiskFault {
  readonly call: string;
  readonly error: 'EIO' | 'ENOSPC';
  readonly when: number;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Attempt {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly proxy: FaultProxy;
  readonly blow?: Blow | undefined;
  readonly stdout?: Stdout | undefined;
  readonly disk?: DiskFault | undefined;
  /** Clock offset of the process, ms; may be negative. */
  readonly clockShiftMs?: number;
  /** Called at each stage of the request, before any blow. */
  readonly onMoment?: ((moment: Moment) => void) | undefined;
}

const twiceMs = 15;

/**
 * Runs the program once; the blow lands at its moment or after its delay. A process that hangs is killed. What nothing hurts has
 * no process of its own: `runner.mjs`.
 */
export async function attempt(given: Attempt): Promise<Ended> {
  const { proxy, blow, stdout = 'read' } = given;
  if (!blow && !given.disk && !given.clockShiftMs && stdout === 'read') {
    proxy.onMoment = (moment) => given.onMoment?.(moment);
    return unhurt(given.args, given.environment).finally(() => {
      proxy.onMoment = () => {};
    });
  }
  const full = stdout === 'full' ? openSync('/dev/full', 'w') : undefined;
  const child = start(given, full ?? 'pipe');
  if (full !== undefined) closeSync(full);
  if (stdout === 'closed') child.stdout?.destroy();
  if (given.disk) child.on('exit', () => endGroup(child));
  const strike = (): void => {
    child.kill(blow?.signal);
    if (blow?.twice) setTimeout(() => child.kill(blow.signal), twiceMs);
  };
  const timers = [
    setTimeout(() => child.kill('SIGKILL'), hangsAfterMs),
    ...(blow && blow.at === undefined ? [setTimeout(strike, blow.afterMs)] : []),
  ];
  proxy.onMoment = (moment) => {
    given.onMoment?.(moment);
    if (blow?.at === moment) timers.push(setTimeout(strike, blow.afterMs ?? 0));
  };
  try {
    return await endOf(child);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    proxy.onMoment = () => {};
  }
}

/** Runs the program in a process that runs one command after another. @throws Error where it crashes. */
export async function unhurt(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const { code, crash, stdout, stderr } = await runLine({ argv, env });
  if (crash !== undefined) throw new Error(`errand ${argv.join(' ')}: ${crash}\n${stdout}\n${stderr}`);
  return { code, signal: null, stdout, stderr };
}

function start(
  { args, environment, disk, clockShiftMs = 0 }: Attempt,
  stdout: 'pipe' | number,
): ChildProcess {
  const node = clockShiftMs === 0 ? [] : ['--require', clockShift];
  const [command = '', ...all] = [
    ...(disk ? failing(disk, environment.ERRAND_STATE_DIR ?? '') : []),
    process.execPath,
    ...node,
    program,
    ...args,
  ];
  return spawn(command, all, {
    env: { ...environment, CLOCK_SET_MS: String(clockShiftMs), CLOCK_SET_AFTER_MS: '-1' },
    stdio: ['ignore', stdout, 'pipe'],
    detached: disk != null,
  });
}

/** If strace is killed while starting, the program stays stopped and holds its pipes open; kill the group. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {}
}

/** The journal's files on disk. */
const journalFiles = ['journal.db', 'journal.db-wal', 'journal.db-shm', 'journal.db-seal'];

const failing = ({ call, error, when }: DiskFault, state: string): string[] => [
  ...['strace', '-qq', '-o', '/dev/null', '-e', 'signal=none'],
  ...journalFiles.flatMap((file) => ['-P', `${state}/${file}`]),
  ...['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}`],
];

/** Starts the program without any faults. */
export const startProgram = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess =>
  spawn(process.execPath, [program, ...args], { env: { ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });

export function endOf(child: ChildProcess): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
}
