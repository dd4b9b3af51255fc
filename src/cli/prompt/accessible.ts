import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';
import type { Column, Row } from '../../format/result.ts';
import { stopOf } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Context, TextOptions } from '../../run/context.ts';
import { writeErr } from '../output/notice.ts';
import { discardTyped, interrupted, reviewAnswer, rowLines } from './index.ts';

export { takeTyped } from './index.ts';

/**
 * Prompts for screen readers: each question is a line, choices are numbered lines, and no line is redrawn. The terminal
 * itself edits what the user types.
 */

export async function askText(context: Context, message: string, options: TextOptions = {}): Promise<string> {
  const { default: preset, optional = false, check } = options;
  const question = preset === undefined ? message : `${message} (${preset})`;
  for (;;) {
    const typed = (await ask(context, question)).trim();
    const text = typed === '' ? (preset ?? '') : typed;
    const problem = text === '' ? (optional ? undefined : 'a value is needed') : await check?.(text);
    if (problem === undefined) return text;
    say(context, problem);
  }
}

export async function askChoice<T extends string>(
  context: Context,
  message: string,
  choices: readonly T[],
): Promise<T> {
  return numbered(
    context,
    message,
    choices.map((value) => ({ value, text: safeText(value) })),
  );
}

export async function askRow<R extends Row, O extends string = never>(
  context: Context,
  message: string,
  rows: readonly R[],
  columns: readonly Column[],
  { others = [], first }: { readonly others?: readonly O[]; readonly first?: R | O | undefined } = {},
): Promise<R | O> {
  const lines = await rowLines(context, rows, columns);
  const choices: Choice<R | O>[] = [
    ...rows.map((value, index) => ({ value, text: spoken(lines[index]) })),
    ...others.map((value) => ({ value, text: safeText(value) })),
  ];
  return numbered(context, message, choices, first);
}

export async function askRows<R extends Row>(
  context: Context,
  message: string,
  rows: readonly R[],
  columns: readonly Column[],
): Promise<R[]> {
  const lines = await rowLines(context, rows, columns);
  say(context, asHeading(message));
  for (const [index] of rows.entries()) say(context, `  ${index + 1}. ${spoken(lines[index])}`);
  for (;;) {
    const typed = await ask(context, 'Numbers with commas between them (Enter: all)');
    const numbers = typed.split(/[\s,]+/).filter((part) => part !== '');
    const chosen = numbers.flatMap((part): R[] => {
      const row = rows[Number(part) - 1];
      return row === undefined ? [] : [row];
    });
    if (numbers.length === 0) return [...rows];
    if (chosen.length === numbers.length) return [...new Set(chosen)];
    say(context, `type numbers from 1 to ${rows.length}`);
  }
}

export async function confirm(context: Context, message: string): Promise<boolean> {
  for (;;) {
    const typed = await askAfresh(context, `${message} (y/N)`);
    if (/^(?:n|no|)$/i.test(typed)) return false;
    if (/^y(?:es)?$/i.test(typed)) return true;
    say(context, 'type y or n');
  }
}

export async function askReview(context: Context, message: string): Promise<'yes' | 'no' | 'edit'> {
  for (;;) {
    const answer = reviewAnswer(await askAfresh(context, `${message} (y/N, e to edit)`));
    if (answer !== undefined) return answer;
    say(context, 'type y, n or e');
  }
}

export async function askSecret(
  context: Context,
  message: string,
  { check, optional = false }: Omit<TextOptions, 'default'> = {},
): Promise<string> {
  for (;;) {
    const secret = await unseen(context, message);
    const problem = secret === '' ? (optional ? undefined : 'nothing was typed') : await check?.(secret);
    if (problem === undefined) return secret;
    say(context, `${problem}; type it again, or press Ctrl-C to end`);
  }
}

interface Choice<T> {
  readonly value: T;
  readonly text: string;
}

async function numbered<T>(
  context: Context,
  message: string,
  choices: readonly Choice<T>[],
  first?: T,
): Promise<T> {
  say(context, asHeading(message));
  for (const [index, { text }] of choices.entries()) say(context, `  ${index + 1}. ${text}`);
  const preset = choices.findIndex(({ value }) => value === first);
  const question = `Number, 1 to ${choices.length}${preset < 0 ? '' : ` (Enter: ${preset + 1})`}`;
  for (;;) {
    const typed = await askAfresh(context, question);
    const chosen =
      typed === '' ? choices[preset] : /^\d{1,4}$/.test(typed) ? choices[Number(typed) - 1] : undefined;
    if (chosen) return chosen.value;
    say(context, `type a number from 1 to ${choices.length}`);
  }
}

const asHeading = (message: string): string => (message.endsWith('?') ? message : `${message}:`);

/** A row of a table as it is read aloud. */
const spoken = (line = ''): string => line.trim().split(/ {2,}/).join(', ');

const say = ({ io }: Context, text: string): void => writeErr(io, `${safeText(text)}\n`);

/** Ignores what was typed before the question, because a stray Enter or `y` could spend money. */
async function askAfresh(context: Context, question: string): Promise<string> {
  if (await discardTyped(context.io.stdin.stream, context.signal)) throw interrupted(context);
  return (await ask(context, question)).trim();
}

/** Reads one line. @throws ErrandError interrupted on Ctrl-C and Ctrl-D. */
function ask(context: Context, question: string): Promise<string> {
  const { io, signal } = context;
  writeErr(io, `${asHeading(safeText(question))} `);
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: io.stdin.stream, terminal: false });
    let line: string | undefined;
    const stop = (): void => lines.close();
    signal.addEventListener('abort', stop, { once: true });
    lines.once('line', (text) => {
      line = text;
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', stop);
      if (line !== undefined) return resolve(line);
      // A Ctrl-C has ended the line of the question already.
      if (!signal.aborted || stopOf(signal.reason) === 'terminated') writeErr(io, '\n');
      reject(interrupted(context));
    });
    if (signal.aborted) stop();
  });
}

const controlC = '\u0003';
const controlD = '\u0004';
const erasing = ['\u007f', '\b'];

/** Reads a line that the terminal does not show. */
async function unseen(context: Context, question: string): Promise<string> {
  const { stream } = context.io.stdin;
  if (!(stream instanceof ReadStream)) return ask(context, question);
  // Before the question is shown, so that nothing of an answer to it is.
  stream.setRawMode(true);
  try {
    writeErr(context.io, `${safeText(question)} (what you type is not shown): `);
    return await new Promise((resolve, reject) => {
      let text = '';
      const end = (): void => {
        stream.off('data', read);
        stream.off('end', stop);
        context.signal.removeEventListener('abort', stop);
        stream.pause();
      };
      const stop = (): void => {
        end();
        reject(interrupted(context));
      };
      const read = (typed: Buffer | string): void => {
        for (const character of typed.toString()) {
          if (character === controlC || (character === controlD && text === '')) {
            stop();
            return;
          }
          if (character === '\r' || character === '\n') {
            end();
            resolve(text);
            return;
          }
          text = erasing.includes(character) ? [...text].slice(0, -1).join('') : text + character;
        }
      };
      stream.on('data', read);
      stream.once('end', stop);
      context.signal.addEventListener('abort', stop, { once: true });
      stream.resume();
    });
  } finally {
    stream.setRawMode(false);
    writeErr(context.io, '\n');
  }
}
