import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { uuidPattern } from '../../api/limits.ts';
import type { ExecOutcome } from '../../journal/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { forwardLines, hasGroups, signalChild } from '../../platform/process.ts';

export interface Run {
  /** The shell command line that the user gave. It never contains any part of an event. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Called with each line that the command prints, unmodified. */
  readonly onLine: (line: string) => void;
}

export interface RunInput {
  readonly event: string | null;
  readonly orderId: string | null;
  /** JSON passed on stdin. */
  readonly body: string;
}

/** Time limit for a command, in ms. It ensures that the commands queued behind this one get to run. */
const maxMs = 5 * 60_000;
/** Grace period between SIGTERM and SIGKILL, in ms. */
const graceMs = 2_000;
/** How long, in ms, to wait for output after a command has exited. */
const outputMs = 500;
const eventName = /^[\w.-]{1,64}$/;

/**
 * Runs a command with an event on stdin, and reports its output. Names from outside are passed to it in environment
 * variables, and only if they are plain words.
 * @throws the signal's reason if aborted, after the command was terminated.
 */
export async function runCommand(run: Run, input: RunInput, signal: AbortSignal): Promise<ExecOutcome> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(maxMs);
  const ended = await endOf(start(run, input), input.body, AbortSignal.any([signal, timeout]));
  signal.throwIfAborted();
  const message = timeout.aborted ? `ended after ${maxMs / 60_000} min` : ended.message;
  return { exit_code: ended.code, message, at: new Date(run.clock.now()).toISOString() };
}

function start({ command, environment, onLine }: Run, { event, orderId }: RunInput): ChildProcess {
  const child = spawn(command, {
    shell: true,
    // Run the command in a process group of its own, so that its children end with it.
    detached: hasGroups,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...environment,
      ERRAND_EVENT: event !== null && eventName.test(event) ? event : '',
      ERRAND_ORDER_ID: orderId !== null && uuidPattern.test(orderId) ? orderId : '',
    },
  });
  for (const printed of [child.stdout, child.stderr]) if (printed) forwardLines(printed, onLine);
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
    // `close` is emitted once all output is reported. However, children that are left over may hold the pipes open
    // forever, so do not wait for it without limit.
    child.on('close', ended);
    child.on('exit', (code, name) => {
      for (const pipe of [child.stdout, child.stderr]) if (pipe instanceof Socket) pipe.unref();
      lastOutput = setTimeout(ended, outputMs, code, name);
    });
    // A command need not read its stdin. Therefore ignore an error in writing to it.
    child.stdin?.on('error', () => {});
    child.stdin?.end(body);
  });
}
