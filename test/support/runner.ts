import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { hangsAfterMs } from './limits.ts';

const script = fileURLToPath(new URL('./runner.mjs', import.meta.url));

/** What a run leaves behind is young when it ends, and goes with one short collection. */
const execArgv = ['--expose-gc', '--min-semi-space-size=32', '--max-semi-space-size=32'];

export interface Line {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The file that the program is started from: `…/errand`. */
  readonly file?: string;
  /** Where it runs; without it, where the test does. */
  readonly folder?: string;
  readonly stdin?: string;
  /** Terminal width of stdout; if undefined, stdout is a pipe. */
  readonly columns?: number;
  /** What Node would load first (`--require`). */
  readonly preloads?: readonly string[];
}

export interface Ended {
  readonly code: number | null;
  /** An uncaught error, or a hang. */
  readonly crash?: string;
  /** CPU time, ms; unaffected by other load on the machine. */
  readonly busyMs: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program in a process that runs command lines in sequence. */
export class Runner {
  #child: ChildProcess | undefined;

  async run({ stdin = '', ...line }: Line): Promise<Ended> {
    this.#child ??= await started();
    const child = this.#child;
    const ended = await new Promise<Ended & { isSpent?: boolean }>((resolve) => {
      const gone = (crash: string): void => {
        clearTimeout(timer);
        resolve({ code: null, crash, busyMs: 0, stdout: '', stderr: '' });
      };
      const timer = setTimeout(() => gone(`still running after ${hangsAfterMs} ms`), hangsAfterMs);
      const exited = (code: number | null): void => gone(`the process ended with ${code}`);
      child.once('exit', exited);
      child.once('message', (message) => {
        clearTimeout(timer);
        child.off('exit', exited);
        resolve(message as Ended);
      });
      child.send({ ...line, stdin });
    });
    // A crashed run must not affect the next.
    if (ended.crash !== undefined || ended.isSpent) await this.stop('SIGKILL');
    return ended;
  }

  /** What runs then has no exit code. Resolves when the process has ended. */
  async stop(signal?: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

/** They go on from one file of a worker to the next: a new one takes half a second until it has compiled what commands share. */
const idle: Runner[] = [];

/** Runs a line in a process that other lines have run in, and others may run in next; one that runs meanwhile has another. */
export async function runLine(line: Line): Promise<Ended> {
  const runner = idle.pop() ?? new Runner();
  const ended = await runner.run(line);
  idle.push(runner);
  return ended;
}

function started(): Promise<ChildProcess> {
  // Its own stdout and stderr are no terminal and no file, as those of a process that a test starts; nothing is written there.
  const child = fork(script, { execArgv, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', () => {
      // It waits for nothing between two runs: it ends with the process that has begun it.
      for (const handle of [child, child.channel, child.stdout as Socket | null]) handle?.unref();
      resolve(child);
    });
    child.once('error', reject);
  });
}
