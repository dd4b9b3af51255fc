import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { ErrandError } from './errors.ts';

interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Whether the command is interactive. An interactive command shares the terminal with this process, so the terminal's
   * signals reach both of them.
   */
  readonly isTerminal: boolean;
  /** Aborted when this program is told to exit. */
  readonly signal: AbortSignal;
}

/**
 * Whether the system has process groups. With a group, a command's child processes can be ended together with the
 * command.
 */
export const hasGroups = process.platform !== 'win32';

/** Grace period before SIGKILL, in ms. */
const graceMs = 5_000;

/**
 * Runs a command with this process's stdio. When the command exits, its child processes are ended. An interactive
 * command stays in the terminal's process group, because otherwise it could not read from the terminal. Its background
 * processes keep running.
 * @returns the command's exit code, as a shell reports it.
 * @throws Error if the command cannot be started.
 */
export function runChild(child: ChildCommand): Promise<number> {
  const { command, args, environment, isTerminal, signal } = child;
  const isGroup = hasGroups && !isTerminal;
  const started = spawn(command, args, { stdio: 'inherit', env: environment, detached: isGroup });
  // After a second signal, this process exits immediately, so kill the command when it exits.
  const insist = (): void => signalChild(started, 'SIGKILL', isGroup);
  process.once('exit', insist);
  return new Promise<number>((resolve, reject) => {
    let killTimer: NodeJS.Timeout | undefined;
    const end = (): void => {
      const isCtrlC = signal.reason instanceof ErrandError && signal.reason.category === 'interrupted';
      // On Ctrl-C, send no signal, because the terminal has already sent one to the command.
      if (!(isCtrlC && isTerminal)) signalChild(started, isCtrlC ? 'SIGINT' : 'SIGTERM', isGroup);
      killTimer = setTimeout(insist, graceMs);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    const done = (): void => {
      signal.removeEventListener('abort', end);
      clearTimeout(killTimer);
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

/** Sends a signal to a command, or to its whole group if it has one. */
export function signalChild(child: ChildProcess, name: NodeJS.Signals, isGroup = hasGroups): void {
  try {
    if (isGroup && child.pid !== undefined) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // It has already exited.
  }
}

/** Maximum length of a line, in characters. Longer lines are split. */
const maxLineLength = 4096;

/**
 * Passes on each line printed by a program that the user has started. The text is untrusted, so `onLine` must sanitize
 * it.
 */
export function forwardLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  const emit = (line: string): void => {
    if (line.trim() !== '') onLine(line);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(emit);
    for (; rest.length > maxLineLength; rest = rest.slice(maxLineLength)) emit(rest.slice(0, maxLineLength));
  });
  stream.on('end', () => emit(rest));
  // Ignore the error, because a destroyed stream has no more output.
  stream.on('error', () => {});
}
