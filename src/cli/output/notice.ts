import type { Writable } from 'node:stream';
import type { OutputFormat } from '../../format/result.ts';
import type { Io } from '../../platform/io.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { asTyped } from './as-typed.ts';
import { foldLines } from './fold-lines.ts';
import { makeRoom } from './live-area.ts';
import { writerOf } from './writer.ts';

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
