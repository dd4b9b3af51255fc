import { closeSync, constants, openSync } from 'node:fs';
import { spawn } from '@lydell/node-pty';
import { hangsAfterMs } from './limits.ts';
import type { Workspace } from './workspace.ts';

const escapeSequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Joins lines that were wrapped between words. */
export const unfolded = (text: string): string => text.replace(/\n {2}(?=\S)/g, ' ');

const heldFlags = constants.O_RDWR | constants.O_NOCTTY;

/** A program in a real terminal, controlled and read as by a person. */
export class Terminal {
  readonly #pty: ReturnType<typeof spawn>;
  readonly #ended: Promise<number>;
  #raw = '';
  /** Chunks of output with their time since the start, ms. */
  readonly pieces: { readonly at: number; readonly data: string }[] = [];

  constructor(
    workspace: Workspace,
    command: string,
    args: readonly string[],
    size: { columns?: number; rows?: number } = {},
  ) {
    this.#pty = spawn(command, [...args], {
      name: workspace.environment.TERM ?? 'xterm-256color',
      cols: size.columns ?? 100,
      rows: size.rows ?? 30,
      cwd: workspace.folder,
      env: workspace.environment,
    });
    const began = performance.now();
    this.#pty.onData((data) => {
      this.pieces.push({ at: performance.now() - began, data });
      this.#raw += data;
    });
    // Linux may drop the last output of a program once no process has the terminal open.
    const held = '_pty' in this.#pty ? openSync(String(this.#pty._pty), heldFlags) : undefined;
    this.#ended = new Promise((resolve) =>
      this.#pty.onExit(({ exitCode, signal }) => {
        if (held !== undefined) closeSync(held);
        resolve(signal ? 128 + signal : exitCode);
      }),
    );
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** All output, including escape sequences. */
  get raw(): string {
    return this.#raw;
  }

  /** All output, without escape sequences. */
  get text(): string {
    return this.#raw.replace(escapeSequence, '').replaceAll('\r', '');
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  /**
   * Resolves once the text contains what is wanted. @param from is where in the text to begin. @throws Error with the
   * screen contents on timeout.
   */
  async shows(wanted: string | RegExp, from = 0): Promise<void> {
    const deadline = Date.now() + hangsAfterMs;
    const found = (): boolean =>
      typeof wanted === 'string' ? this.text.includes(wanted, from) : wanted.test(this.text.slice(from));
    while (!found()) {
      if (Date.now() > deadline)
        throw new Error(`the terminal never showed ${wanted}; it shows:\n${this.text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Resolves with the exit code. */
  ended(): Promise<number> {
    const late = new Promise<number>((_, reject) => {
      setTimeout(
        () => reject(new Error(`the program did not end; the terminal shows:\n${this.text}`)),
        hangsAfterMs,
      ).unref();
    });
    return Promise.race([this.#ended, late]);
  }

  close(): void {
    this.#pty.kill();
  }
}
