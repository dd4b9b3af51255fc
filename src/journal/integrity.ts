import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { sha256 } from '../format/canonical.ts';
import { readPrivateFile } from '../platform/private-files.ts';

/** The seal's file, beside that of the journal. */
export const sealOf = (journal: string): string => `${journal}-seal`;

/**
 * How many intents were recorded, kept beside the journal. SQLite drops what a damaged WAL held without a word; a journal
 * that counts less than its seal has lost something. The seal is written after the commit and not synced, so it may count
 * less than the journal, and never more.
 */
export function readSeal(file: string): number | undefined {
  try {
    const text = readPrivateFile(file, () => {})?.toString('latin1') ?? '';
    const [count = '', check] = text.trimEnd().split(' ');
    return check === checkOfCount(count) ? Number(count) : undefined;
  } catch {
    // Without a seal the journal still vouches for each of its records.
    return undefined;
  }
}

/** A disk that has no room for it does not stop an order. */
export function writeSeal(file: string, count: number): void {
  const text = String(count).padStart(12, '0');
  try {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const opened = openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      // Always of one length, so that nothing is left of what stood there.
      writeSync(opened, `${text} ${checkOfCount(text)}\n`, 0);
    } finally {
      closeSync(opened);
    }
  } catch {}
}

const checkOfCount = (count: string): string => sha256(`seal ${count}`).slice(0, 16);

/**
 * SQL for a column `hides_text`: 1 where a text of a row goes on behind a NUL. The binding of SQLite ends it there, so that
 * what was added to it would be read as never written.
 */
export const hiddenText = (columns: readonly string[]): string =>
  `instr(CAST(${columns.map((name) => `coalesce(${name}, '')`).join(' || ')} AS BLOB), x'00') > 0 AS hides_text`;

/** A text as SQLite gives it back: a service may send any. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');
