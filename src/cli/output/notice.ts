import type { Writable } from 'node:stream';
import type { OutputFormat } from '../../format/result.ts';
import { isNarrow } from '../../format/width.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Io } from '../../platform/streams.ts';
import { asTyped } from './as-typed.ts';
import { wrap } from './wrap.ts';
import { makeRoom, writerOf } from './writer.ts';

/**
 * Prints notes on stderr if the format is `table` or stderr is a TTY. If a program requests another format and captures
 * stderr, it finds only errors there.
 */
export function reportToUser(lines: readonly string[], io: Io, format: OutputFormat): void {
  if (format !== 'table' && !io.stderr.isTerminal) return;
  noteLines(lines, io);
}

/** Prints notes on stderr, wrapped at word boundaries on a TTY. */
export function noteLines(lines: readonly string[], io: Io): void {
  writeErr(io, textFor(lines, io));
}

/** Like `noteLines`. @returns whether stderr accepted the notes. */
export const deliverLines = (lines: readonly string[], io: Io): Promise<boolean> =>
  deliverErr(io, textFor(lines, io));

const textFor = (lines: readonly string[], io: Io): string =>
  foldLines(
    lines.map((line) => asTyped(safeText(line), io)),
    io,
  )
    .map((line) => `${line}\n`)
    .join('');

/** Writes to stderr with known secrets redacted; ignores a closed reader. */
export function writeErr(io: Io, text: string): void {
  if (text !== '' && io.stderr.isTerminal) makeRoom(text.endsWith('\n'));
  writeQuietly(io.stderr.stream, redactor.known(asTyped(text, io)));
}

const quiet = new WeakSet<Writable>();

/** Writes to a stream, ignoring a closed reader. */
export function writeQuietly(stream: Writable, text: string): void {
  if (text === '') return;
  silence(stream);
  stream.write(text);
}

/** Writes to stderr. @returns whether stderr accepted the text. */
export async function deliverErr(io: Io, text: string): Promise<boolean> {
  const err = writerOf(io.stderr.stream);
  try {
    err.write(text);
    await err.flush();
    return !err.isClosed;
  } catch {
    return false;
  }
}

function silence(stream: Writable): void {
  if (quiet.has(stream)) return;
  quiet.add(stream);
  stream.on('error', () => {});
}

const escapes = /\u001b\[[\d;]*m/g;
const lineStart = /^((?:\u001b\[[\d;]{0,9}m)*)( {0,40})/;
/** Separates a suggested command from its purpose. */
const separator = ' — ';
const hanging = 2;
/** Minimum terminal width for folding sentences. */
const narrowest = 20;
/**
 * Private-use characters that stand for a space, and for a break opportunity between brackets, inside unbreakable text.
 * These characters never occur in errand's own text.
 */
const [space, seam] = ['\ue000', '\ue001'];

/**
 * Folds text at word boundaries to the width of stderr if it is a TTY, indenting continuation lines. Copyable parts
 * (words, URLs, ids, commands) are never broken, and columns stay as they are. Pipes get the lines unchanged.
 */
export function foldLines(lines: readonly string[], { stderr, commandName }: Io): string[] {
  const width = stderr.isTerminal ? (stderr.columns() ?? 0) : 0;
  if (width < narrowest) return [...lines];
  return lines.flatMap((line) => foldLine(line, width, commandName?.() ?? 'errand'));
}

function foldLine(line: string, width: number, command: string): string[] {
  const plain = line.replace(escapes, '');
  // Put a suggested command on its own line, so that it can be copied, and its purpose below it.
  const reason = plain.startsWith('try: ') ? line.lastIndexOf(separator) : -1;
  if (reason >= 0)
    return [line.slice(0, reason), ...foldLine(`  ${line.slice(reason + separator.length)}`, width, command)];
  if (columnsOf(line) <= width) return [line];
  if (isWhole(plain)) return [line];
  const [head = '', paint = '', indent = ''] = lineStart.exec(line) ?? [];
  const text = line.slice(head.length);
  const label = labelOf(text);
  const deep = label > 0 && label < width / 2 ? label : hanging;
  const setIn = ' '.repeat(indent.length + deep);
  // Keep a label next to its value.
  const labelText = deep === label ? text.slice(0, label) : '';
  const [first = '', ...more] = wrap(
    masked(text.slice(labelText.length), command),
    width - setIn.length,
    columnsOf,
  );
  return [paint + indent + labelText + first, ...more.map((rest) => setIn + rest)].map(unmasked);
}

/**
 * Whether a line must not be folded. This is so for a suggested command, and for a line with several columns. A
 * labelled value may be folded, with the continuation lines beneath the value.
 */
const isWhole = (plain: string): boolean =>
  /^(?:try: | {0,9}\$ )/.test(plain) || (/\S {2}/.test(plain) && labelOf(plain.trimStart()) === 0);

const named = /^(?:[a-z]+ )?[a-z]+ {2,8}(?=\S)/;

/**
 * Width of a label, including the spaces after it, as in `ship to Ada Lovelace, …`. 0 if the line has no label, or if
 * it has further columns besides the label and its value.
 */
function labelOf(text: string): number {
  const { length } = named.exec(text)?.[0] ?? '';
  return / {2}/.test(text.slice(length)) ? 0 : length;
}

/**
 * Folds a plain-text value to lines of at most `width` columns, by the rules for notes. URLs, ids and commands stay
 * whole; if one is too long, the terminal wraps it.
 */
export function foldValue(text: string, width: number, command = 'errand'): string[] {
  if (columnsOf(text) <= width || text.startsWith(`${command} `)) return [text];
  return wrap(masked(text, command), width, columnsOf).map(unmasked);
}

/** Makes backticked text, and a command at the end of the line, unbreakable. */
function masked(text: string, command: string): string {
  const at = startOfCommand(text, command);
  return text.slice(0, at).replace(/`[^`]{1,400}`/g, unbreakable) + unbreakable(text.slice(at));
}

/** Start index of a command that extends to the end of the line and follows a colon or a dollar sign. */
function startOfCommand(text: string, command: string): number {
  const plainBefore = /(?::|\$)$/;
  for (let at = text.indexOf(`${command} `); at >= 0; at = text.indexOf(`${command} `, at + 1))
    if (plainBefore.test(text.slice(0, at).replace(escapes, '').trimEnd())) return at;
  return text.length;
}

const unbreakable = (text: string): string => text.replaceAll(' ', space).replaceAll('][', `]${seam}[`);
const unmasked = (text: string): string => text.replaceAll(space, ' ').replaceAll(seam, '');

/**
 * Computes the display width without a library. Characters that may be wide count as wide, so a line may come out too
 * short but never too long.
 */
function columnsOf(text: string): number {
  const plain = text.replace(escapes, '').replaceAll(seam, '').replaceAll(space, ' ');
  if (isNarrow(plain)) return plain.length;
  let columns = 0;
  for (const character of plain) columns += isNarrow(character) ? 1 : 2;
  return columns;
}
