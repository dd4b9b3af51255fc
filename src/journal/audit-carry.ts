import type { SqlValue } from '../platform/sqlite/database.ts';
import { auditColumns, firstPrevious, hashOf, recordOfRow } from './audit-record.ts';

type EntryFields = Readonly<Record<string, unknown>>;

/** The beginning of a chain that is as it was written, of rows that could still be read. Pure. */
export function intactBeginning(rows: readonly EntryFields[]): SqlValue[][] {
  const ordered = rows.toSorted((one, other) => Number(one.number) - Number(other.number));
  let previous = firstPrevious;
  const intact = ordered.findIndex((row, index) => {
    const record = recordOfRow(row);
    const follows = row.number === index + 1 && record.previous === previous;
    previous = hashOf(record);
    return !follows || record.hash !== previous;
  });
  return ordered.slice(0, intact === -1 ? ordered.length : intact).map(valuesOf);
}

const valuesOf = (row: EntryFields): SqlValue[] =>
  auditColumns.map((name) => {
    const value = row[name];
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  });
