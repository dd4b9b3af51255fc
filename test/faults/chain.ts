import { join } from 'node:path';
import { openReader } from '../../src/sqlite/load.ts';
import { ChainCheck } from '../../src/state/audit-check.ts';
import { recordOfRow } from '../../src/state/audit-record.ts';
import { journalFile } from '../../src/state/journal-tables.ts';

/** What is wrong with the audit chain of a machine; nothing where all of it is as it was written. */
export function brokenChain(home: string): string[] {
  const database = openReader(journalFile(join(home, 'state')));
  try {
    const check = new ChainCheck();
    for (const row of database.prepare('SELECT * FROM audit ORDER BY number').all())
      check.take(recordOfRow({ ...Object(row) }));
    const all = Number(Object(database.prepare('SELECT count FROM tally').get()).count);
    check.end({ all, beforeChain: 0 });
    return check.findings.map(({ message }) => `audit chain: ${message}`);
  } finally {
    database.close();
  }
}
