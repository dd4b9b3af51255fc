import {
  accessSync,
  close,
  constants,
  fstatSync,
  open,
  openSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { delimiter, dirname, join, relative, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { UsageError } from './errors.ts';
import { shellWord } from './shell.ts';

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

/** What decides how this program is started from a shell. */
export interface Started {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The file that runs: `…/bin/errand.js`, or a link to it. */
  readonly file: string;
  /** Undefined where it is not there any more. */
  readonly folder: string | undefined;
}

/**
 * What a person types to start this program again: `errand` where the PATH has it, `npx errand` where npm started it or
 * the folder belongs to the project that holds it, else Node with the file.
 */
export function commandName({ environment, platform, file, folder }: Started): string {
  const byNpm = environment.npm_execpath !== undefined;
  const path = environment.PATH ?? environment.Path ?? '';
  const folders = path.split(platform === 'win32' ? ';' : delimiter).filter((one) => one !== '');
  // npm puts these on the PATH of what it starts, and takes them away again.
  const own = byNpm ? folders.filter((one) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(one)) : folders;
  const endings = platform === 'win32' ? (environment.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';') : [''];
  const names = endings.map((ending) => `errand${ending.toLowerCase()}`);
  if (own.some((one) => names.some((name) => canRun(join(one, name), platform)))) return 'errand';
  if (byNpm || (folder !== undefined && isWithin(folder, projectOf(file)))) return 'npx errand';
  return `node ${shellWord(platform === 'win32' ? file.replaceAll('\\', '/') : file)}`;
}

function canRun(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not for this user.
    return false;
  }
}

/** The folder in which npx finds the program: its own checkout, or the project it is installed in. */
function projectOf(file: string): string {
  const checkout = dirname(dirname(resolved(file)));
  const [project] = checkout.split(`${sep}node_modules${sep}`);
  return project ?? checkout;
}

const isWithin = (folder: string, outer: string): boolean => {
  const way = relative(outer, resolved(folder));
  return way === '' || !(way.startsWith('..') || way.includes(':'));
};

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Opens the pipes behind stdout and stderr anew, and makes them the streams of the process. Without a pipe, and where
 * there is no /proc (not Linux), Node's own streams stay.
 *
 * Whether a write waits is one flag for all processes that a shell gave a pipe to (`2>&1`, a loop, `&`). Node sets it for
 * all of them, so that writes of the others fail; and any of them can reset it, so that a write of ours would block the
 * whole program, Ctrl-C included, until somebody reads. A pipe that is opened anew has a flag of its own.
 */
function useOwnPipes(process: NodeJS.Process): void {
  const stdout = openPipe(1);
  // In one pipe, what is written to both keeps its order.
  const stderr = stdout && isSamePipe() ? stdout : openPipe(2);
  if (stdout) Object.defineProperty(process, 'stdout', { value: stdout });
  if (stderr) Object.defineProperty(process, 'stderr', { value: stderr });
}

function openPipe(descriptor: 1 | 2): Socket | undefined {
  try {
    if (!fstatSync(descriptor).isFIFO()) return undefined;
    const own = openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd: own, readable: false, writable: true });
  } catch {
    return undefined;
  }
}

function isSamePipe(): boolean {
  const [out, err] = [fstatSync(1), fstatSync(2)];
  return out.ino === err.ino && out.dev === err.dev;
}

export interface InputLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** All of stdin. @throws UsageError past `limit` bytes. */
export async function readAll(io: Io, limit: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const bytes of piecesOf(io.stdin.stream, signal)) {
    size += bytes.length;
    if (size > limit) throw new UsageError(`stdin is too large: more than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Lines that are not blank. */
export const linesOf = (bytes: Buffer): InputLine[] =>
  bytes
    .toString('utf8')
    .split(/\r?\n/)
    .map((text, index) => ({ text: text.trim(), number: index + 1 }))
    .filter(({ text }) => text !== '');

/**
 * Writes to stdout without a stream, which takes Node longer to make than all else that a short answer needs.
 * @returns how many bytes it took at once: 0 where it is a terminal or another device, or its reader has gone.
 */
export function writeNow(bytes: Uint8Array): number {
  let written = 0;
  try {
    if (fstatSync(1).isCharacterDevice()) return 0;
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch {
    // It is full just now, or broken: a stream waits, and knows what to say.
  }
  return written;
}

const openFile = promisify(open);
const closeFile = promisify(close);

/** How long until an opening that has not begun to wait is looked at again, ms. */
const pauseMs = 10;

/**
 * What comes through a pipe that has a name (`mkfifo`, or a shell's `<(…)`), once: it cannot be read again.
 * @throws what the signal was aborted with, and NodeJS.ErrnoException for a pipe that cannot be opened.
 */
export async function* readPipe(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const fd = await openNamedPipe(path, signal);
  // A socket waits without a thread, so that it can be given up; it closes the descriptor.
  yield* piecesOf(new Socket({ fd, readable: true, writable: false }), signal);
}

/** Opening waits until somebody writes, in a thread that nothing ends but a writer: so one comes, and goes again. */
async function openNamedPipe(path: string, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  let isWaiting = true;
  const wake = async (): Promise<void> => {
    try {
      await closeFile(await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // Nobody waits at the other end: the opening is about to begin, or over.
      if (isWaiting) setTimeout(wake, pauseMs);
    }
  };
  signal.addEventListener('abort', wake, { once: true });
  try {
    return await openFile(path, constants.O_RDONLY);
  } finally {
    isWaiting = false;
    signal.removeEventListener('abort', wake);
  }
}
