import type { Workspace } from '../program/workspace.ts';
import { Terminal, unfolded } from './terminal.ts';

interface Answer {
  readonly code: number;
  /** What the line printed, without escape sequences. */
  readonly text: string;
  /** The same, what was broken between words in one line again. */
  readonly said: string;
}

/** A shell in a terminal of its own: one session, in which command after command is typed. */
export class Shell {
  readonly #terminal: Terminal;
  #lines = 0;

  constructor(workspace: Workspace, size: { columns?: number; rows?: number } = {}) {
    const quiet = { ...workspace.environment, PS1: '', BASH_SILENCE_DEPRECATION_WARNING: '1' };
    this.#terminal = new Terminal({ ...workspace, environment: quiet }, 'bash', ['--norc', '--noprofile'], {
      columns: 80,
      ...size,
    });
    this.#terminal.type('stty -echo; bind "set enable-bracketed-paste off" 2>/dev/null\r');
  }

  /** Types a line and waits for its end. */
  async run(line: string): Promise<Answer> {
    this.#lines += 1;
    const [begin, end] = [`begin-${this.#lines}:`, `end-${this.#lines}:`];
    // What is typed may be echoed, so the marks are not in it as they are printed.
    this.#terminal.type(
      `printf 'begin-%s:\\n' ${this.#lines}; ${line}; printf 'end-%s:%s:\\n' ${this.#lines} $?\r`,
    );
    await this.#terminal.shows(new RegExp(`${end}\\d+:`));
    const { text } = this.#terminal;
    const at = text.lastIndexOf(begin);
    const printed = text.slice(at + begin.length, text.lastIndexOf(end)).trim();
    return {
      code: Number(new RegExp(`${end}(\\d+):`).exec(text)?.[1]),
      text: printed,
      said: unfolded(printed),
    };
  }

  close(): void {
    this.#terminal.close();
  }
}
