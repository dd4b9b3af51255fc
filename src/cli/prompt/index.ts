import type { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';
import { checkbox, confirm as confirmPrompt, input, password, select } from '@inquirer/prompts';
import type { Column, Row } from '../../format/result.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
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
    // Clear a rejected value, so that retyping does not append: 10 followed by 10.00 must not become 1010.00.
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
 * Prompts for one of several records or one of `others`. Each record is shown as a row that fits the terminal, and the
 * others below the rows. Columns keep their order; those that do not fit are dropped by weight. `first` is preselected.
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

/** Prompts for one or more of several records; all are preselected. */
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

/** Once the user has answered, the choice is shown without the padding of the columns. */
const rowChoice = <T>(value: T, name = ''): { value: T; name: string; short: string } => ({
  value,
  name,
  short: name.trim().split(/ {2,}/).join(', '),
});

const shownAtOnce = 12;
/** Number of columns that the markers of the choice list take. */
const marks = 4;

export async function rowLines(
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

/** Yes/no prompt, defaulting to no. */
export function confirm(context: Context, message: string): Promise<boolean> {
  return answeredAfresh(context, (on) => confirmPrompt({ message: safeText(message), default: false }, on));
}

/** Yes/no/edit prompt, defaulting to no. */
export async function askReview(context: Context, message: string): Promise<'yes' | 'no' | 'edit'> {
  const question = {
    message: `${safeText(message)} (y/N, e to edit)`,
    validate: (text: string) => reviewAnswer(text) !== undefined || 'type y, n or e',
    theme: { validationFailureMode: 'clear' } as const,
  };
  const text = await answeredAfresh(context, (on) => input(question, on));
  return reviewAnswer(text) ?? 'no';
}

const reviewAnswers = { yes: /^y(?:es)?$/i, edit: /^e(?:dit)?$/i, no: /^(?:n|no|)$/i } as const;

/** Parses an answer to `askReview`; undefined if the answer is invalid. */
export const reviewAnswer = (text: string): keyof typeof reviewAnswers | undefined =>
  (['yes', 'edit', 'no'] as const).find((answer) => reviewAnswers[answer].test(text.trim()));

/**
 * Prompts for a secret, without echo, until the user enters an acceptable one. A stray Enter does not end the prompt,
 * because the user would then type the secret into the shell.
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
    // Start a new prompt, because the library would append the next input to the rejected secret.
    context.note(`${problem}; type it again, or press Ctrl-C to end`);
  }
}

type On = NonNullable<Parameters<typeof input>[1]>;

/** Ignores keys pressed before the question was readable, because a stray Enter or `y` could spend money. */
async function answeredAfresh<T>(context: Context, ask: (on: On) => Promise<T>): Promise<T> {
  if (await discardTyped(context.io.stdin.stream, context.signal)) throw interrupted(context);
  return answered(context, ask);
}

async function answered<T>(context: Context, ask: (on: On) => Promise<T>): Promise<T> {
  const { stdin, stderr } = context.io;
  // Handle the end of the input. After Ctrl-D on an empty line, or at the end of stdin, the prompt would otherwise
  // never settle.
  const unread = new AbortController();
  const stop = (): void => unread.abort();
  stdin.stream.on('pause', stop);
  stdin.stream.on('data', noteChunk);
  const signal = AbortSignal.any([context.signal, unread.signal]);
  try {
    return await ask({ input: stdin.stream, output: stderr.stream, signal });
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : '';
    if (name === 'ExitPromptError' || name === 'AbortPromptError') {
      throw interrupted(context, cause);
    }
    throw cause;
  } finally {
    stdin.stream.off('pause', stop);
    stdin.stream.off('data', noteChunk);
  }
}

/** The last chunk of input from the terminal. A paste arrives as one chunk, but a prompt reads only its first line. */
let lastChunk = '';
const noteChunk = (typed: Buffer | string): void => {
  lastChunk = typed.toString();
};

/** How a prompt ends without an answer: by a signal, or by Ctrl-C or Ctrl-D, which a prompt reads as keys. */
export function interrupted({ signal }: Pick<Context, 'signal'>, cause?: unknown): ErrandError {
  const how = stopOf(signal.reason) ?? 'interrupted';
  return new ErrandError(how, `${how}; nothing was sent`, { outcome: 'not_sent', cause });
}

/** Time in ms without any input after which the terminal has delivered all pending input. */
const quietMs = 30;
const controlC = '\u0003';

/**
 * Discards pending input before a prompt appears, so that this input cannot answer the prompt.
 * @returns whether the input contained Ctrl-C, which raw mode delivers as a character.
 */
export const discardTyped = async (stdin: Readable, signal: AbortSignal): Promise<boolean> =>
  (await pendingText(stdin, signal)).includes(controlC);

/** Lines that were typed or pasted and that no prompt has read yet. @throws ErrandError interrupted on Ctrl-C. */
export async function takeTyped(context: Context): Promise<string[]> {
  const { io, signal } = context;
  const [, rest = ''] = /[\r\n]([\s\S]*)/.exec(lastChunk) ?? [];
  const text = rest + (await pendingText(io.stdin.stream, signal));
  if (text.includes(controlC)) throw interrupted(context);
  return text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
}

/** Reads pending input until none comes for a moment, or until Ctrl-C. */
async function pendingText(stdin: Readable, signal: AbortSignal): Promise<string> {
  if (!(stdin instanceof ReadStream) || signal.aborted) return '';
  let text = '';
  const wasRaw = stdin.isRaw;
  // Switch to raw mode. Without it, input can be read only after Enter was pressed.
  stdin.setRawMode(true);
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stdin.off('data', take);
      stdin.off('end', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const take = (typed: Buffer | string): void => {
      text += typed.toString();
      if (text.includes(controlC)) end();
      else timer.refresh();
    };
    const timer = setTimeout(end, quietMs);
    stdin.on('data', take);
    // Resume stdin, because the previous prompt may have paused it.
    stdin.resume();
    stdin.once('end', end);
    signal.addEventListener('abort', end, { once: true });
  });
  stdin.pause();
  stdin.setRawMode(wasRaw);
  return text;
}
