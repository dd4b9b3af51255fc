import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { begin, type Finished } from './run.ts';
import type { Workspace } from './workspace.ts';

const hand = fileURLToPath(new URL('./hand-clock.cjs', import.meta.url));

/** A workspace in which deadlines of up to an hour expire only on request; `still` freezes the clock otherwise too. */
export const withTimeInHand = (workspace: Workspace, clock: 'still' | 'goes on' = 'goes on'): Workspace => ({
  ...workspace,
  environment: {
    ...workspace.environment,
    NODE_OPTIONS: `${workspace.environment.NODE_OPTIONS ?? ''} --require ${hand}`,
    HAND_CLOCK: clock,
  },
});

/** A running `errand`: its output so far, and deadlines controlled by the test. */
export class Begun {
  stdout = '';
  stderr = '';
  readonly child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<Finished>;

  constructor(workspace: Workspace, args: readonly string[], clock?: 'still') {
    const child = begin(withTimeInHand(workspace, clock), 'errand', args);
    this.child = child;
    child.stdout.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.#ended = new Promise((resolve) =>
      child.on('close', (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      ),
    );
    onTestFinished(() => void child.kill('SIGKILL'));
  }

  /** Resolves once stdout or stderr matches a text. */
  async prints(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.stdout + this.stderr).toMatch(text);
  }

  /** Expires the deadline now. The process must already be waiting. */
  passDeadline(): void {
    this.child.kill('SIGUSR2');
  }

  interrupt(): void {
    this.child.kill('SIGINT');
  }

  ended(): Promise<Finished> {
    return this.#ended;
  }
}
