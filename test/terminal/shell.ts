import { Terminal, unfolded } from '../support/terminal.ts';
import type { Workspace } from '../support/workspace.ts';

interface Answer {
  readonly code: number;
  /** Output of the line, without escape sequences. */
  readonly text: string;
  /** `text` with wrapped lines joined. */
  readonly said: string;
}

/** An interactive shell in its own terminal; commands are typed one after another. */
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

  /** Types a line and waits until it completes. */
  async run(line: string): Promise<Answer> {
    this.#lines += 1;
    const [begin, end] = [`begin-${this.#lines}:`, `end-${this.#lines}:`];
    // The input may be echoed, so it must not contain the markers as printed.
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
