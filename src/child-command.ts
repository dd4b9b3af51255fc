import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a person sits at it: it shares the terminal then, which ends both. */
  readonly isTerminal: boolean;
  /** Aborted when this program is told to end. */
  readonly signal: AbortSignal;
  /** How the command is told to end, once `signal` is aborted; undefined where its terminal has told it already. */
  readonly ending: () => NodeJS.Signals | undefined;
}

/** Between telling a command to end and ending it, ms. */
const graceMs = 5_000;

/**
 * Runs a command with the stdin, stdout and stderr of this process, and ends what it has started with it. A person's
 * command stays in the group of the terminal, from which alone it can read; what it leaves in the background stays there.
 * @returns its exit code, as a shell has it. @throws Error where it cannot be started.
 */
export function runChild(child: ChildCommand): Promise<number> {
  const { command, args, environment, isTerminal, signal, ending } = child;
  const isGroup = !isTerminal && process.platform !== 'win32';
  const started = spawn(command, args, { stdio: 'inherit', env: environment, detached: isGroup });
  const tell = (name: NodeJS.Signals): void => {
    try {
      if (isGroup && started.pid !== undefined) process.kill(-started.pid, name);
      else started.kill(name);
    } catch {
      // It has ended by itself.
    }
  };
  // A second signal ends this process at once.
  const insist = (): void => tell('SIGKILL');
  process.once('exit', insist);
  return new Promise<number>((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    const end = (): void => {
      const name = ending();
      if (name !== undefined) tell(name);
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
