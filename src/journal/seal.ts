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
    return check === checkOf(count) ? Number(count) : undefined;
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
      writeSync(opened, `${text} ${checkOf(text)}\n`, 0);
    } finally {
      closeSync(opened);
    }
  } catch {}
}

const checkOf = (count: string): string => sha256(`seal ${count}`).slice(0, 16);
