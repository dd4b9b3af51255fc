import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { ErrandError } from './errors.ts';

interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a person sits at it: it shares the terminal then, which ends both. */
  readonly isTerminal: boolean;
  /** Aborted when this program is told to end. */
  readonly signal: AbortSignal;
}

/** Whether processes have groups, so that what a command has started can end with it. */
export const hasGroups = process.platform !== 'win32';

/** Between telling a command to end and ending it, ms. */
const graceMs = 5_000;

/**
 * Runs a command with the stdin, stdout and stderr of this process, and ends what it has started with it. A person's
 * command stays in the group of the terminal, from which alone it can read; what it leaves in the background stays there.
 * @returns its exit code, as a shell has it. @throws Error where it cannot be started.
 */
export function runChild(child: ChildCommand): Promise<number> {
  const { command, args, environment, isTerminal, signal } = child;
  const isGroup = hasGroups && !isTerminal;
  const started = spawn(command, args, { stdio: 'inherit', env: environment, detached: isGroup });
  // A second signal ends this process at once.
  const insist = (): void => signalChild(started, 'SIGKILL', isGroup);
  process.once('exit', insist);
  return new Promise<number>((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    const end = (): void => {
      const isCtrlC = signal.reason instanceof ErrandError && signal.reason.category === 'interrupted';
      // A terminal's Ctrl-C has reached it already.
      if (!(isCtrlC && isTerminal)) signalChild(started, isCtrlC ? 'SIGINT' : 'SIGTERM', isGroup);
      patience = setTimeout(insist, graceMs);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    const done = (): void => {
      signal.removeEventListener('abort', end);
      clearTimeout(patience);
      process.removeListener('exit', insist);
      if (isGroup) insist();
    };
    started.on('error', (error) => {
      done();
      reject(error);
    });
    started.on('exit', (code, name) => {
      done();
      resolve(code ?? 128 + (name === null ? 0 : constants.signals[name]));
    });
  });
}

/** Sends a signal to a command, and where it has a group of its own to all that it has started. */
export function signalChild(child: ChildProcess, name: NodeJS.Signals, isGroup = hasGroups): void {
  try {
    if (isGroup && child.pid !== undefined) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // It has ended by itself.
  }
}

/** A line that has no end is shown in pieces of this many characters. */
const longestLine = 4096;

/** Tells each line that a program prints which the user had run. It is text from outside: whoever tells it makes it safe. */
export function tellLines(stream: Readable, tell: (line: string) => void): void {
  let rest = '';
  const say = (line: string): void => {
    if (line.trim() !== '') tell(line);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(say);
    for (; rest.length > longestLine; rest = rest.slice(longestLine)) say(rest.slice(0, longestLine));
  });
  stream.on('end', () => say(rest));
  // A stream that is destroyed has nothing more to say.
  stream.on('error', () => {});
}
