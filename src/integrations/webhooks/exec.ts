import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { uuidPattern } from '../../api/limits.ts';
import type { ExecOutcome } from '../../journal/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasGroups, signalChild, tellLines } from '../../platform/process.ts';

export interface Run {
  /** A line for the shell, the user's own; nothing of an event ever stands in it. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Called with each line that the command prints, as it came. */
  readonly tell: (line: string) => void;
}

export interface RunInput {
  readonly event: string | null;
  readonly orderId: string | null;
  /** JSON for stdin. */
  readonly body: string;
}

/** A command that takes longer is ended, so that those behind it come to run. */
const longestMs = 5 * 60_000;
/** Between asking a command to end and ending it, ms. */
const graceMs = 2_000;
/** How long the output of a command that has ended is waited for, ms. */
const outputMs = 500;
const eventName = /^[\w.-]{1,64}$/;

/**
 * Runs a command with an event on its stdin; what it prints is reported. Names from outside reach its environment
 * only where they are plain words.
 * @throws the signal's reason where it is aborted; the command is ended then.
 */
export async function runCommand(run: Run, input: RunInput, signal: AbortSignal): Promise<ExecOutcome> {
  signal.throwIfAborted();
  const patience = AbortSignal.timeout(longestMs);
  const ended = await endOf(start(run, input), input.body, AbortSignal.any([signal, patience]));
  signal.throwIfAborted();
  const message = patience.aborted ? `ended after ${longestMs / 60_000} min` : ended.message;
  return { exit_code: ended.code, message, at: new Date(run.clock.now()).toISOString() };
}

function start({ command, environment, tell }: Run, { event, orderId }: RunInput): ChildProcess {
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that what the command started ends with it.
    detached: hasGroups,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...environment,
      ERRAND_EVENT: event !== null && eventName.test(event) ? event : '',
      ERRAND_ORDER_ID: orderId !== null && uuidPattern.test(orderId) ? orderId : '',
    },
  });
  for (const printed of [child.stdout, child.stderr]) if (printed) tellLines(printed, tell);
  return child;
}

function endOf(
  child: ChildProcess,
  body: string,
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly message: string | null }> {
  return new Promise((resolve) => {
    let insistence: NodeJS.Timeout | undefined;
    let lastOutput: NodeJS.Timeout | undefined;
    const stop = (): void => {
      signalChild(child, 'SIGTERM');
      insistence = setTimeout(() => signalChild(child, 'SIGKILL'), graceMs);
    };
    signal.addEventListener('abort', stop, { once: true });
    const done = (code: number | null, message: string | null): void => {
      signal.removeEventListener('abort', stop);
      clearTimeout(insistence);
      clearTimeout(lastOutput);
      resolve({ code, message });
    };
    child.on('error', (error) => done(null, error.message));
    const ended = (code: number | null, name: NodeJS.Signals | null): void =>
      done(code, name === null ? null : `ended by ${name}`);
    // All that it printed is reported first; what it leaves behind may hold the pipes open for as long as it lives.
    child.on('close', ended);
    child.on('exit', (code, name) => {
      for (const pipe of [child.stdout, child.stderr]) if (pipe instanceof Socket) pipe.unref();
      lastOutput = setTimeout(ended, outputMs, code, name);
    });
    // A command need not read what it is given.
    child.stdin?.on('error', () => {});
    child.stdin?.end(body);
  });
}
