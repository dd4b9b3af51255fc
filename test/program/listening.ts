import { type ChildProcess, spawn } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import type { Workspace } from './workspace.ts';

const program = 'errand';

type Rec = Readonly<Record<string, unknown>>;

/** `errand webhook listen -o ndjson` as a script runs it: its records as they come. */
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

  /** The first record of a type, once it has come. */
  async record(type: string): Promise<Rec> {
    const found = (): Rec | undefined => this.records.find((record) => record.type === type);
    await expect.poll(found, { message: `no ${type}: ${this.stderr}` }).toBeDefined();
    return found() ?? {};
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  /** As a terminal does that is closed. */
  hangUp(): void {
    this.#child.kill('SIGHUP');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** The exit code, once it has ended. */
  ended(): Promise<number | null> {
    return this.#ended;
  }
}
