import { type ChildProcess, spawn } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import type { Workspace } from '../../support/workspace.ts';

const program = 'errand';

type Rec = Readonly<Record<string, unknown>>;

/** `errand webhook listen -o ndjson` run as by a script; collects its records. */
export class Listening {
  readonly records: Rec[] = [];
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(workspace: Workspace, args: readonly string[]) {
    const child = spawn(program, ['webhook', 'listen', '-o', 'ndjson', ...args], {
      cwd: workspace.folder,
      env: workspace.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    child.stdout.on('data', (data) => {
      const lines = (text + data).split('\n');
      text = lines.pop() ?? '';
      this.records.push(...lines.map((line) => JSON.parse(line)));
    });
    child.stderr.on('data', (data) => {
      this.stderr += data;
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.on('close', resolve));
    onTestFinished(() => void child.kill('SIGKILL'));
  }

  /** Waits for the first record of a type. */
  async record(type: string): Promise<Rec> {
    const found = (): Rec | undefined => this.records.find((record) => record.type === type);
    await expect.poll(found, { message: `no ${type}: ${this.stderr}` }).toBeDefined();
    return found() ?? {};
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  /** Sends SIGHUP, as when its terminal is closed. */
  hangUp(): void {
    this.#child.kill('SIGHUP');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Resolves with the exit code. */
  ended(): Promise<number | null> {
    return this.#ended;
  }
}
