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
  /** Width in columns. Undefined without a TTY. */
  columns(): number | undefined;
  /** Height in rows. Undefined without a TTY. */
  rows?(): number | undefined;
  /** Whether the terminal cannot move its cursor (`TERM=dumb`). */
  readonly isDumb?: boolean;
  /** Whether a screen reader reads the terminal. If so, nothing is redrawn. */
  readonly isAccessible?: boolean;
}

/** The program's stdio streams and their properties. */
export interface Io {
  readonly stdin: { readonly stream: Readable; readonly isTerminal: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Returns what a user types to start this program: `errand` if it is on the PATH. */
  readonly commandName?: () => string;
  /** The file from which this program was started: `…/bin/errand.js`, or a link to it. */
  readonly programFile: string;
}

/** A pager, which is a command that shows output longer than the terminal, and the environment in which it runs. */
export interface Pager {
  readonly command: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Whether anyone can answer a prompt and, if not, why not. */
export type Interactivity = { readonly yes: true } | { readonly yes: false; readonly why: string };

/** @param noInput is the reason why prompts are disabled. Undefined if they are allowed. */
export function interactivity({ stdin, stderr }: Io, noInput: string | undefined): Interactivity {
  if (noInput !== undefined) return { yes: false, why: noInput };
  if (!stdin.isTerminal) return { yes: false, why: 'stdin is not a terminal' };
  return stderr.isTerminal ? { yes: true } : { yes: false, why: 'stderr is not a terminal' };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** This process's streams. `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` take precedence over TTY detection for colour. */
export function processIo(process: NodeJS.Process): Io {
  useOwnPipes(process);
  let name: string | undefined;
  return {
    // The stream is opened on first use, because opening stdin costs a millisecond, and help does not read it.
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
    // The working directory was deleted while the program was running.
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

/** Whether to colour a stream. */
export function wantsColor(isTerminal: boolean, environment: Environment): boolean {
  if (environment.NO_COLOR) return false;
  const forced = environment.FORCE_COLOR;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && environment.TERM !== 'dumb';
}

/**
 * Yields the chunks of an input. If the signal aborts, the wait for the next chunk ends.
 * @throws the signal's abort reason.
 */
export async function* readChunks(input: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stop = (): void => void input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of input) yield Buffer.from(chunk);
  } catch (error) {
    // A destroyed input reports only that it closed prematurely, so throw the abort reason instead.
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
  signal.throwIfAborted();
}

/** The facts from which the command that starts this program is derived. */
export interface Started {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The file that is being run: `…/bin/errand.js`, or a link to it. */
  readonly file: string;
  /** The working directory. Undefined if it no longer exists. */
  readonly folder: string | undefined;
}

/**
 * The command to start this program again: `errand` if it is on the PATH, or `npx errand` if npm started the program,
 * or if the working directory belongs to the project that contains the program. Otherwise, it is `node` with the
 * program's file.
 */
export function commandName({ environment, platform, file, folder }: Started): string {
  const byNpm = environment.npm_execpath !== undefined;
  const path = environment.PATH ?? environment.Path ?? '';
  const folders = path.split(platform === 'win32' ? ';' : delimiter).filter((one) => one !== '');
  // npm adds `.bin` folders to the PATH, but only for the processes that it starts. Therefore ignore these folders.
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
    // The file is missing, or this user cannot access it.
    return false;
  }
}

/** The folder from which npx finds the program. This is the program's checkout, or the project that installed it. */
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
 * Reopens the pipes behind stdout and stderr and makes them the process's streams. Keeps Node's own streams if there is
 * no pipe, or no /proc (not Linux).
 *
 * O_NONBLOCK is one flag shared by all processes that a shell gave the same pipe to (`2>&1`, a loop, `&`). Node sets it
 * for all of them, which makes the writes of the other processes fail. Any of them can clear the flag. A write of this
 * program then blocks, and even Ctrl-C has no effect until somebody reads. A reopened pipe has its own flag.
 */
function useOwnPipes(process: NodeJS.Process): void {
  const stdout = openPipe(1);
  // If both streams are the same pipe, use one stream for both, so that writes stay in order.
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
  /** Line number, starting at 1. */
  readonly number: number;
}

/** Reads all of stdin. @throws UsageError beyond `limit` bytes. */
export async function readAll(io: Io, limit: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const bytes of readChunks(io.stdin.stream, signal)) {
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
 * Writes to stdout without creating a stream, which takes Node longer than everything else that a short answer needs.
 * @returns the number of bytes written. It is 0 for a terminal or another device, and if the reader has gone.
 */
export function writeNow(bytes: Uint8Array): number {
  let written = 0;
  try {
    if (fstatSync(1).isCharacterDevice()) return 0;
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch {
    // The pipe is full or broken. The caller then uses a stream, which can wait for room and report errors.
  }
  return written;
}

const openFile = promisify(open);
const closeFile = promisify(close);

/** Delay before trying again to wake a thread, in ms. It is needed if the `open` of that thread has not blocked yet. */
const pauseMs = 10;

/**
 * Reads a named pipe (`mkfifo`, or a shell's `<(…)`). Such a pipe can be read only once.
 * @throws the signal's abort reason, and NodeJS.ErrnoException if the pipe cannot be opened.
 */
export async function* readPipe(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const fd = await openNamedPipe(path, signal);
  // A socket needs no thread to wait, so the read can be aborted. The socket also closes the descriptor.
  yield* readChunks(new Socket({ fd, readable: true, writable: false }), signal);
}

/**
 * Opens a FIFO for reading. This blocks a thread until there is a writer. On abort, opens the FIFO for writing, which
 * wakes the thread.
 */
async function openNamedPipe(path: string, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  let isWaiting = true;
  const wake = async (): Promise<void> => {
    try {
      await closeFile(await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // There is no reader. Either the `open` has not blocked yet, or it has already ended.
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
