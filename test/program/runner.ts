import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hangsAfterMs } from '../limits.ts';

const script = fileURLToPath(new URL('./runner.mjs', import.meta.url));

export interface Line {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The width of the terminal that stdout is; without it stdout is a pipe. */
  readonly columns?: number;
}

export interface Ended {
  readonly code: number | null;
  /** What nobody caught, or that it did not end. */
  readonly crash?: string;
  /** Time that the processor worked at it, ms: the machine may be busy with other things. */
  readonly busyMs: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a process keeps until it ends (secrets to redact, patterns) is not meant for thousands of commands. */
const mostRuns = 40;

/** The built program in a process that runs one command line after another. */
export class Runner {
  #child: ChildProcess | undefined;
  #runs = 0;

  async run({ stdin = '', ...line }: Line): Promise<Ended> {
    this.#runs += 1;
    if (this.#runs % mostRuns === 0) this.stop();
    this.#child ??= await started();
    const child = this.#child;
    const ended = await new Promise<Ended>((resolve) => {
      const gone = (code: number | null) =>
        resolve({ code: null, crash: `the process ended with ${code}`, busyMs: 0, stdout: '', stderr: '' });
      child.once('exit', gone);
      child.once('message', (message) => {
        child.off('exit', gone);
        resolve(message as Ended);
      });
      child.send({ ...line, stdin, limitMs: hangsAfterMs });
    });
    // What is left of one that crashed must not disturb the next.
    if (ended.crash !== undefined) this.stop();
    return ended;
  }

  /** What runs then has no exit code. */
  stop(signal?: NodeJS.Signals): void {
    this.#child?.kill(signal);
    this.#child = undefined;
  }
}

function started(): Promise<ChildProcess> {
  const child = fork(script, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('error', reject);
  });
}
