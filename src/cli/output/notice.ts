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
 * Lines for people, on stderr: with `-o table`, or where stderr is a terminal. A program that requested another format
 * and keeps stderr finds nothing there but errors.
 */
export function tellPeople(lines: readonly string[], io: Io, format: OutputFormat): void {
  if (format !== 'table' && !io.stderr.isTerminal) return;
  noteLines(lines, io);
}

/** Lines for people, on stderr; a terminal has them broken between words. */
export function noteLines(lines: readonly string[], io: Io): void {
  writeErr(io, textFor(lines, io));
}

/** The same. @returns whether stderr took them. */
export const deliverLines = (lines: readonly string[], io: Io): Promise<boolean> =>
  deliverErr(io, textFor(lines, io));

const textFor = (lines: readonly string[], io: Io): string =>
  foldLines(
    lines.map((line) => asTyped(safeText(line), io)),
    io,
  )
    .map((line) => `${line}\n`)
    .join('');

/** Writes to stderr, without the secrets in use; that nobody reads it stops nothing. */
export function writeErr(io: Io, text: string): void {
  if (text !== '' && io.stderr.isTerminal) makeRoom(text.endsWith('\n'));
  writeQuietly(io.stderr.stream, redactor.known(asTyped(text, io)));
}

const quiet = new WeakSet<Writable>();

/** Writes to a stream whose reader may have gone, which then is no failure. */
export function writeQuietly(stream: Writable, text: string): void {
  if (text === '') return;
  silence(stream);
  stream.write(text);
}

/** Writes to stderr. @returns whether it was taken. */
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
const beginning = /^((?:\u001b\[[\d;]{0,9}m)*)( {0,40})/;
const hanging = 2;
/** A terminal as narrow as this has no room for sentences. */
const narrowest = 20;
/** A space, and a place between brackets, within what is not to be broken; in no text of ours. */
const [space, seam] = ['\ue000', '\ue001'];

/**
 * Lines for people, broken between words to the width of stderr where that is a terminal; what goes on is set in. What may be
 * copied stays in one piece: a word, a URL, an id, a command. Lines in columns stay as they are. For a pipe nothing changes.
 */
export function foldLines(lines: readonly string[], { stderr, commandName }: Io): string[] {
  const width = stderr.isTerminal ? (stderr.columns() ?? 0) : 0;
  if (width < narrowest) return [...lines];
  return lines.flatMap((line) => foldLine(line, width, commandName?.() ?? 'errand'));
}

function foldLine(line: string, width: number, command: string): string[] {
  if (columnsOf(line) <= width) return [line];
  const plain = line.replace(escapes, '');
  // What to type stands alone in its line, so that it can be copied; what it is for goes below.
  const reason = plain.startsWith('try: ') ? line.lastIndexOf(' — ') : -1;
  if (reason >= 0) return [line.slice(0, reason), ...foldLine(`  ${line.slice(reason + 1)}`, width, command)];
  if (isWhole(plain)) return [line];
  const [head = '', paint = '', indent = ''] = beginning.exec(line) ?? [];
  const text = line.slice(head.length);
  const label = labelOf(text);
  const deep = label > 0 && label < width / 2 ? label : hanging;
  const setIn = ' '.repeat(indent.length + deep);
  // A name stays beside its value.
  const beside = deep === label ? text.slice(0, label) : '';
  const [first = '', ...more] = wrap(
    masked(text.slice(beside.length), command),
    width - setIn.length,
    columnsOf,
  );
  return [paint + indent + beside + first, ...more.map((rest) => setIn + rest)].map(unmasked);
}

/** A line that begins with what to type, or one in columns; a value beside its name goes on below itself. */
const isWhole = (plain: string): boolean =>
  plain.startsWith('try: ') || (/\S {2}/.test(plain) && labelOf(plain.trimStart()) === 0);

const named = /^(?:[a-z]+ )?[a-z]+ {2,8}(?=\S)/;

/** Columns of a name and the spaces behind it, as in `ship to  Ada Lovelace, …`; 0 where a line has none, or is in more columns. */
function labelOf(text: string): number {
  const { length } = named.exec(text)?.[0] ?? '';
  return / {2}/.test(text.slice(length)) ? 0 : length;
}

/**
 * A value in lines of at most `width` columns, broken between words as notes are: URLs, ids and commands stay whole, and one
 * that is longer is left to the terminal. Plain.
 */
export function foldValue(text: string, width: number, command = 'errand'): string[] {
  if (columnsOf(text) <= width || text.startsWith(`${command} `)) return [text];
  return wrap(masked(text, command), width, columnsOf).map(unmasked);
}

/** What stands between backticks, and a command to the end of its line, as one word. */
function masked(text: string, command: string): string {
  const at = startOfCommand(text, command);
  return text.slice(0, at).replace(/`[^`]{1,400}`/g, inOnePiece) + inOnePiece(text.slice(at));
}

/** Where a command begins that ends with the line: after a colon or a dollar sign. */
function startOfCommand(text: string, command: string): number {
  const plainBefore = /(?::|\$)$/;
  for (let at = text.indexOf(`${command} `); at >= 0; at = text.indexOf(`${command} `, at + 1))
    if (plainBefore.test(text.slice(0, at).replace(escapes, '').trimEnd())) return at;
  return text.length;
}

const inOnePiece = (text: string): string => text.replaceAll(' ', space).replaceAll('][', `]${seam}[`);
const unmasked = (text: string): string => text.replaceAll(space, ' ').replaceAll(seam, '');

/** Columns of a terminal, counted without a library: what may be wide is taken for it, so that a line is rather too short. */
function columnsOf(text: string): number {
  const plain = text.replace(escapes, '').replaceAll(seam, '').replaceAll(space, ' ');
  if (isNarrow(plain)) return plain.length;
  let columns = 0;
  for (const character of plain) columns += isNarrow(character) ? 1 : 2;
  return columns;
}
