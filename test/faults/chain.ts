import { join } from 'node:path';
import { ChainCheck } from '../../src/journal/audit-check.ts';
import { recordOfRow } from '../../src/journal/audit-record.ts';
import { journalFile } from '../../src/journal/journal-tables.ts';
import { openReader } from '../../src/platform/sqlite/load.ts';

/** Verifies a machine's audit chain; empty if it is intact. */
export function brokenChain(home: string): string[] {
  return brokenChainIn(journalFile(join(home, 'state')));
}

/** Verifies the chain in a journal file. */
export function brokenChainIn(file: string): string[] {
  const database = openReader(file);
  try {
    // The process that created the file was killed before it created the tables.
    if (!database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'audit'").get()) return [];
    const rows = database.prepare('SELECT * FROM audit ORDER BY number').all();
    const { count = 0 } = Object(database.prepare('SELECT count FROM tally').get());
    return brokenRows(
      rows.map((row) => ({ ...Object(row) })),
      Number(count),
    );
  } finally {
    database.close();
  }
}

/** Verifies the rows of a chain, in order. @param recorded number of intents the journal counts. */
export function brokenRows(rows: readonly Readonly<Record<string, unknown>>[], recorded: number): string[] {
  const check = new ChainCheck();
  for (const row of rows) check.take(recordOfRow(row));
  check.end({ all: recorded, beforeChain: 0 });
  return check.findings.map(({ message }) => `audit chain: ${message}`);
}
