import type { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';
import { checkbox, confirm as confirmPrompt, input, password, select } from '@inquirer/prompts';
import type { Column, Row } from '../../format/result.ts';
import { ErrandError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Context, TextOptions } from '../../run/context.ts';
import { paintFor } from '../output/paint.ts';
import { tableLines } from '../output/table.ts';

/** Asks for a line of text. @throws ErrandError interrupted on Ctrl-C and Ctrl-D. */
export function askText(context: Context, message: string, options: TextOptions = {}): Promise<string> {
  const validate = async (text: string): Promise<string | true> => {
    if (text.trim() === '') return options.optional === true || 'a value is needed';
    return (await options.check?.(text.trim())) ?? true;
  };
  const question = {
    message: safeText(message),
    validate,
    // What is typed next must stand alone: 10 and then 10.00 are not 1010.00.
    theme: { validationFailureMode: 'clear' } as const,
    ...(options.default !== undefined && { default: options.default }),
  };
  return answered(context, (on) => input(question, on)).then((text) => text.trim());
}

/** Asks for one of several values. */
export function askChoice<T extends string>(
  context: Context,
  message: string,
  choices: readonly T[],
): Promise<T> {
  const options = choices.map((value) => ({ value, name: safeText(value) }));
  return answeredAfresh(context, (on) => select<T>({ message: safeText(message), choices: options }, on));
}

/**
 * Asks for one of several records, each shown as a row that the terminal holds, or for one of `others`, which stand below
 * them. The columns are shown in their order; those that do not fit give way by their weight. `first` is what an Enter takes.
 */
export async function askRow<R extends Row, O extends string = never>(
  context: Context,
  message: string,
  rows: readonly R[],
  columns: readonly Column[],
  { others = [], first }: { readonly others?: readonly O[]; readonly first?: R | O | undefined } = {},
): Promise<R | O> {
  const lines = await rowLines(context, rows, columns);
  const choices = [
    ...rows.map((value, index) => rowChoice<R | O>(value, lines[index])),
    ...others.map((value) => rowChoice<R | O>(value, safeText(value))),
  ];
  const question = { message: safeText(message), choices, loop: false, pageSize: shownAtOnce };
  const from = { ...question, ...(first !== undefined && { default: first }) };
  return answeredAfresh(context, (on) => select<R | O>(from, on));
}

/** Asks for some of several records, at least one; all are chosen until one is taken away. */
export async function askRows<R extends Row>(
  context: Context,
  message: string,
  rows: readonly R[],
  columns: readonly Column[],
): Promise<R[]> {
  const lines = await rowLines(context, rows, columns);
  const choices = rows.map((value, index) => ({ ...rowChoice(value, lines[index]), checked: true }));
  const question = {
    message: safeText(message),
    choices,
    loop: false,
    pageSize: shownAtOnce,
    required: true,
  };
  return answeredAfresh(context, (on) => checkbox<R>(question, on));
}

/** What was chosen stands behind the question, where columns would only take room. */
const rowChoice = <T>(value: T, name = ''): { value: T; name: string; short: string } => ({
  value,
  name,
  short: name.trim().split(/ {2,}/).join(', '),
});

const shownAtOnce = 12;
/** Columns that a list of choices takes for itself. */
const marks = 4;

async function rowLines(
  { io, output }: Context,
  rows: readonly Row[],
  columns: readonly Column[],
): Promise<string[]> {
  const width = io.stderr.columns();
  const { lines } = await tableLines(rows, columns, {
    now: output.now,
    localNow: output.localNow,
    utc: output.utc === true,
    isScreen: true,
    isOneLine: true,
    width: width === undefined ? undefined : Math.max(1, width - marks),
    paint: await paintFor(false),
  });
  return lines.slice(1);
}

/** Asks yes or no; no unless yes is said. */
export function confirm(context: Context, message: string): Promise<boolean> {
  return answeredAfresh(context, (on) => confirmPrompt({ message: safeText(message), default: false }, on));
}

/**
 * Asks for a secret until one is taken; nothing of it is shown. Whoever has pressed Enter too early still types it here,
 * and not into the shell.
 */
export async function askSecret(
  context: Context,
  message: string,
  { check, optional }: Omit<TextOptions, 'default'> = {},
): Promise<string> {
  const validate = (secret: string): string | true =>
    optional === true || secret !== '' || 'nothing was typed; type it, or press Ctrl-C to end';
  const question = { message: safeText(message), mask: false, validate };
  for (;;) {
    const secret = await answered(context, (on) => password(question, on));
    const problem = secret === '' ? undefined : await check?.(secret);
    if (problem === undefined) return secret;
    // The library would put what is typed next behind the secret that was refused.
    context.note(`${problem}; type it again, or press Ctrl-C to end`);
  }
}

type On = NonNullable<Parameters<typeof input>[1]>;

/** A key that was pressed before the question could be read is no answer to it: an Enter or a `y` would spend money. */
async function answeredAfresh<T>(context: Context, ask: (on: On) => Promise<T>): Promise<T> {
  if (await discardTyped(context.io.stdin.stream, context.signal)) throw interrupted();
  return answered(context, ask);
}

async function answered<T>(context: Context, ask: (on: On) => Promise<T>): Promise<T> {
  const { stdin, stderr } = context.io;
  // Ctrl-D on an empty line, or the end of stdin, stops the reading and settles nothing: nobody would ever answer.
  const unread = new AbortController();
  const stop = (): void => unread.abort();
  stdin.stream.on('pause', stop);
  const signal = AbortSignal.any([context.signal, unread.signal]);
  try {
    return await ask({ input: stdin.stream, output: stderr.stream, signal });
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : '';
    if (name === 'ExitPromptError' || name === 'AbortPromptError') {
      throw interrupted(cause);
    }
    throw cause;
  } finally {
    stdin.stream.off('pause', stop);
  }
}

const interrupted = (cause?: unknown): ErrandError =>
  new ErrandError('interrupted', 'interrupted; nothing was sent', { outcome: 'not_sent', cause });

/** A terminal that was quiet for this long has delivered everything that was typed, ms. */
const quietMs = 30;
const controlC = '\u0003';

/**
 * Discards what was typed before a question appears, so that it cannot answer it.
 * @returns whether Ctrl-C was among it: in raw mode a terminal delivers it as a character.
 */
async function discardTyped(stdin: Readable, signal: AbortSignal): Promise<boolean> {
  if (!(stdin instanceof ReadStream) || signal.aborted) return false;
  let interrupted = false;
  const wasRaw = stdin.isRaw;
  // Text without an Enter can be read in raw mode only.
  stdin.setRawMode(true);
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stdin.off('data', discard);
      stdin.off('end', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const discard = (typed: Buffer | string): void => {
      interrupted = typed.includes(controlC);
      if (interrupted) end();
      else timer.refresh();
    };
    const timer = setTimeout(end, quietMs);
    stdin.on('data', discard);
    stdin.once('end', end);
    signal.addEventListener('abort', end, { once: true });
  });
  stdin.pause();
  stdin.setRawMode(wasRaw);
  return interrupted;
}
