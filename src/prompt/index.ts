import { checkbox, confirm as confirmPrompt, input, password, select } from '@inquirer/prompts';
import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import { safeText } from '../output/safe-text.ts';
import { discardTyped } from './discard-typed.ts';

interface TextOptions {
  /** Why a text is refused; undefined when it is taken. */
  readonly check?: (text: string) => string | undefined;
  readonly default?: string;
  readonly optional?: boolean;
}

/** Asks for a line of text. @throws ErrandError interrupted on Ctrl-C and Ctrl-D. */
export function askText(context: Context, message: string, options: TextOptions = {}): Promise<string> {
  const validate = (text: string): string | true => {
    if (text.trim() === '') return options.optional === true || 'a value is needed';
    return options.check?.(text.trim()) ?? true;
  };
  const question = {
    message: safeText(message),
    validate,
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

/** Asks for some of several values, at least one; all are chosen until one is taken away. */
export function askChoices<T extends string>(
  context: Context,
  message: string,
  choices: readonly T[],
): Promise<T[]> {
  const options = choices.map((value) => ({ value, name: safeText(value), checked: true }));
  const question = { message: safeText(message), choices: options, required: true };
  return answeredAfresh(context, (on) => checkbox<T>(question, on));
}

/** Asks yes or no; no unless yes is said. */
export function confirm(context: Context, message: string): Promise<boolean> {
  return answeredAfresh(context, (on) => confirmPrompt({ message: safeText(message), default: false }, on));
}

/** Asks for a secret; nothing of it is shown. */
export function askSecret(context: Context, message: string): Promise<string> {
  return answered(context, (on) => password({ message: safeText(message), mask: false }, on));
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
