import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { apiKeyPattern } from '../api/limits.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import { findLooseProgram, type PrivateFileError } from '../platform/private-files.ts';
import { forwardLines, hasGroups, signalChild } from '../platform/process.ts';
import { findProgram, isProgram, trustedEnvironment } from '../platform/programs.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { shellWord } from '../platform/shell.ts';
import type { Environment } from './paths.ts';
import type { KeyCommand } from './stored.ts';

/** Formats a key command the way a user would type it. */
export const shownCommand = (command: KeyCommand): string => command.map(shellWord).join(' ');

/**
 * Parses a typed command into an argument list with the absolute path of its program.
 * @throws UsageError if the command needs a shell, contains a key, names no program, or names a program that others may
 * replace.
 */
export function readKeyCommand(text: string, environment: Environment): KeyCommand {
  const [name, ...args] = wordsOf(text);
  if (name === undefined || name === '') throw new UsageError('--command is empty; it takes a command');
  if ([name, ...args].some((word) => redactor.text(word) !== word))
    throw new UsageError('--command holds a secret itself, and errand would keep it in a file', {
      hint: 'It takes a command that reads the key from where it is kept, such as a password manager.',
    });
  const isPath = /[\\/]/.test(name);
  const file = isPath ? resolve(name) : findProgram(name, environment)?.file;
  if (file === undefined || !isProgram(file))
    throw new UsageError(
      isPath
        ? `--command: ${file} is not a program that can be run`
        : `--command: there is no program ${shellWord(name)} in an absolute folder of the PATH`,
      { hint: 'Name it by its path.' },
    );
  const loose = looseTextOf([file, ...args]);
  if (loose !== undefined) throw new UsageError(`--command: ${loose}`, { hint: looseHint });
  return [file, ...args];
}

/**
 * Explains why a command must not run: another user of the machine may replace its program, or a file that one of its
 * arguments names, such as a script. Undefined if no other user may.
 */
function looseTextOf([program, ...args]: KeyCommand): string | undefined {
  for (const file of [program, ...args.filter(isGivenFile)]) {
    const loose = findLooseProgram(file);
    if (loose) return looseText(file, loose);
  }
  return undefined;
}

/**
 * Whether an argument names an existing file. A relative path does not count, because the command runs in errand's own
 * folder.
 */
const isGivenFile = (word: string): boolean =>
  isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true;

/** Explains that other users may replace a file. */
const looseText = (file: string, { path, message }: PrivateFileError): string =>
  path === file ? message : `${message}, and so can ${file}`;

const looseHint =
  'Whoever can change it could have your key, or have orders paid with theirs. Take write access from the others (chmod go-w), or put the program where only you and root can write.';

/**
 * Characters that have a meaning for a shell, listed separately for unquoted text and for text within double quotes.
 */
const ofShell = /[$`|&;<>()\n\r]/;
const ofShellQuoted = /[$`]/;

const pieces = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(\s+)|./gs;

/**
 * Splits a command line into words. Quotes and backslashes work as in a POSIX shell.
 * @throws UsageError for syntax that only a shell understands, because the command runs without a shell.
 */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, single, double, escaped, space] of text.matchAll(pieces)) {
    if (space !== undefined && !ofShell.test(space)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    checkPiece(piece, {
      isQuoted: single !== undefined || escaped !== undefined,
      double,
      isFirst: word === undefined,
    });
    word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? piece);
  }
  return word === undefined ? words : [...words, word];
}

interface Quoting {
  readonly isQuoted: boolean;
  /** The text within double quotes; undefined if the piece has no double quotes. */
  readonly double: string | undefined;
  /** Whether the piece is the first one of a word. */
  readonly isFirst: boolean;
}

/** @throws UsageError for an unterminated quote, and for syntax that only a shell understands. */
function checkPiece(piece: string, { isQuoted, double, isFirst }: Quoting): void {
  if (isQuoted) return;
  const isForShell =
    double === undefined
      ? ofShell.test(piece) || (piece === '~' && isFirst)
      : ofShellQuoted.test(double.replace(/\\./gs, ''));
  if (!isForShell && !['"', "'", '\\'].includes(piece)) return;
  const what = isForShell
    ? `${JSON.stringify(piece)} is for a shell, and none runs it`
    : `${piece} has no end`;
  throw new UsageError(`--command: ${what}`, {
    hint: `Put it in single quotes, or name a shell: --command "sh -c '…'".`,
  });
}

interface KeyReading {
  readonly command: KeyCommand;
  readonly profile: string;
  /** The environment without errand's secrets. */
  readonly environment: Environment;
  /**
   * Working directory of the command. This is errand's own folder, so that no project can affect what the command
   * reads.
   */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
}

/** Time limit of a key command, in ms. */
const keyTimeoutMs = 10_000;
/** How long, in ms, a command may take to exit after SIGTERM. */
const graceMs = 500;
/**
 * How long, in ms, to wait for output after a command has exited. Child processes of the command may still hold the
 * pipe open.
 */
const outputMs = 500;
const maxKeyBytes = 4096;
/** Maximum output on stderr, in bytes. Output within this limit is shown completely. */
const maxNoteBytes = 65_536;

/**
 * Runs a key command and returns the key that the command prints. The command gets no shell, terminal or stdin.
 * @throws ErrandError authentication if the command prints no key; the signal's reason on Ctrl-C.
 */
export async function readKey(reading: KeyReading): Promise<string> {
  const { command, profile, signal } = reading;
  const failed = (what: string, hint: string): ErrandError =>
    new ErrandError('authentication', `the key command of profile ${profile} ${what}`, {
      ...{ code: 'key_command_failed', outcome: 'not_sent', retryable: false, hint },
    });
  const loose = looseTextOf(command);
  if (loose !== undefined) throw failed(`is not run: ${loose}`, looseHint);
  const ended = await run(reading);
  signal.throwIfAborted();
  const problem = 'problem' in ended ? ended.problem : problemIn(ended.printed);
  if (problem !== undefined || 'problem' in ended)
    throw failed(
      `gave no key: ${problem}`,
      `It is \`${shownCommand(command)}\`, run without a shell and without a terminal: try it by hand, and unlock what it asks. \`errand auth token --command …\` names another.`,
    );
  const key = ended.printed.trim();
  redactor.remember([key]);
  return key;
}

/**
 * Describes what is wrong with the output of a key command, without quoting the output. Undefined if the output is a
 * key.
 */
function problemIn(printed: string): string | undefined {
  const line = printed.replace(/\r?\n$/, '');
  if (line.trim() === '') return 'it printed nothing';
  if (/[\n\r]/.test(line)) return 'it printed several lines';
  if (/[\x00-\x1f\x7f-\x9f]/.test(line)) return 'it printed control characters';
  return apiKeyPattern.test(line) ? undefined : 'what it printed is no key (PREFIX_live_… or PREFIX_test_…)';
}

type Ended = { readonly printed: string } | { readonly problem: string };

function run({ command, environment, folder, signal, note }: KeyReading): Promise<Ended> {
  const [file, ...args] = command;
  signal.throwIfAborted();
  if (!isAbsolute(file) || !isProgram(file))
    return Promise.resolve({ problem: `${file} is not a program that can be run` });
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: folder,
      // Run the command in a session of its own. It then has no terminal on which it could prompt, and its child
      // processes end with it.
      detached: hasGroups,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...trustedEnvironment(environment) },
    });
    const kill = (): void => signalChild(child, 'SIGKILL');
    let problem: string | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    let outputTimer: NodeJS.Timeout | undefined;
    const stop = (why: string): void => {
      problem ??= why;
      signalChild(child, 'SIGTERM');
      killTimer ??= setTimeout(kill, graceMs);
    };
    const interrupt = (): void => stop('it was interrupted');
    const timer = setTimeout(() => stop(`it took more than ${keyTimeoutMs / 1000} s`), keyTimeoutMs);
    signal.addEventListener('abort', interrupt, { once: true });
    // Kill the command when this process exits. After a second signal, this process exits at once, without waiting for
    // the command.
    process.once('exit', kill);
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxKeyBytes) stop(`it printed more than ${maxKeyBytes} bytes`);
      else chunks.push(chunk);
    });
    let noted = 0;
    child.stderr.on('data', (chunk: string) => {
      noted += chunk.length;
      if (noted > maxNoteBytes) stop(`it printed more than ${maxNoteBytes} bytes to stderr`);
    });
    forwardLines(child.stderr, (line) => {
      if (noted <= maxNoteBytes) note(`${basename(file)}: ${redactor.text(line)}`);
    });
    const done = (found?: string): void => {
      for (const one of [timer, killTimer, outputTimer]) clearTimeout(one);
      signal.removeEventListener('abort', interrupt);
      process.removeListener('exit', kill);
      problem ??= found;
      if (problem !== undefined) kill();
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve(problem === undefined ? { printed: Buffer.concat(chunks).toString() } : { problem });
    };
    const ended = (code: number | null, name: NodeJS.Signals | null): void =>
      done(code === 0 ? undefined : code === null ? `it was ended by ${name}` : `it ended with exit ${code}`);
    child.on('error', ({ message }) => done(`it could not be run: ${message}`));
    child.on('close', ended);
    child.on('exit', (code, name) => {
      outputTimer = setTimeout(ended, outputMs, code, name);
    });
  });
}
