import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { commandName, type Started } from './command-name.ts';
import { useOwnPipes } from './own-pipes.ts';

export interface OutputStream {
  readonly stream: Writable;
  readonly isTerminal: boolean;
  readonly color: boolean;
  /** Width in columns; undefined where the stream is not a terminal. */
  columns(): number | undefined;
  /** Height in rows; undefined where the stream is not a terminal. */
  rows?(): number | undefined;
  /** A terminal whose cursor cannot be moved (`TERM=dumb`). */
  readonly isDumb?: boolean;
}

/** The program's three streams and what is known of each. */
export interface Io {
  readonly stdin: { readonly stream: Readable; readonly isTerminal: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** What a person types to start this program: `errand` where the PATH has it. */
  readonly commandName?: () => string;
  /** The file that this program was started from: `…/bin/errand.js`, or a link to it. */
  readonly programFile: string;
}

/** Whether anyone can answer a prompt; otherwise why not. */
export type Interactivity = { readonly yes: true } | { readonly yes: false; readonly why: string };

/** @param noInput why nobody is to be asked, where somebody said so. */
export function interactivity({ stdin, stderr }: Io, noInput: string | undefined): Interactivity {
  if (noInput !== undefined) return { yes: false, why: noInput };
  if (!stdin.isTerminal) return { yes: false, why: 'stdin is not a terminal' };
  return stderr.isTerminal ? { yes: true } : { yes: false, why: 'stderr is not a terminal' };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The streams of this process. `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` decide colour before the terminal does. */
export function processIo(process: NodeJS.Process): Io {
  useOwnPipes(process);
  let name: string | undefined;
  return {
    // Opening it costs a millisecond, and the help reads nothing.
    stdin: {
      get stream() {
        return process.stdin;
      },
      get isTerminal() {
        return isatty(0);
      },
    },
    stdout: outputStream(process.stdout, process.env),
    stderr: outputStream(process.stderr, process.env),
    commandName: () => (name ??= commandName(startOf(process))),
    programFile: process.argv[1] ?? '',
  };
}

const startOf = (process: NodeJS.Process): Started => ({
  environment: process.env,
  platform: process.platform,
  file: process.argv[1] ?? '',
  folder: currentFolder(process),
});

function currentFolder(process: NodeJS.Process): string | undefined {
  try {
    return process.cwd();
  } catch {
    // It was removed under the program.
    return undefined;
  }
}

function outputStream(stream: NodeJS.WriteStream, environment: Environment): OutputStream {
  const isTerminal = stream.isTTY === true;
  return {
    stream,
    isTerminal,
    color: wantsColor(isTerminal, environment),
    columns: () => (isTerminal ? stream.columns : undefined),
    rows: () => (isTerminal ? stream.rows : undefined),
    isDumb: environment.TERM === 'dumb',
  };
}

/** Whether a stream is to be coloured. */
export function wantsColor(isTerminal: boolean, environment: Environment): boolean {
  if (environment.NO_COLOR) return false;
  const forced = environment.FORCE_COLOR;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && environment.TERM !== 'dumb';
}

/**
 * The pieces of an input as they come. Nobody knows when the next one does, so waiting for it ends with the signal.
 * @throws what the signal was aborted with.
 */
export async function* piecesOf(input: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stop = (): void => void input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    for await (const piece of input) yield Buffer.from(piece);
  } catch (error) {
    // An input that is destroyed says only that it was closed too early.
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
  signal.throwIfAborted();
}
