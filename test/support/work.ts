import { Database, type SqlValue, type StoredRow } from '../../src/platform/sqlite/database.ts';

/** What some work has cost in SQLite, whatever the machine. */
export interface Work {
  readonly statements: number;
  /** Rows that the statements have returned. */
  readonly rows: number;
  /** What the statements scan, in whole or up to a number, as `EXPLAIN QUERY PLAN` says it, each once. */
  readonly scans: readonly string[];
}

/** Counts the statements that some work runs, the rows that it reads, and what is scanned for that. */
export async function workOf(work: () => Promise<unknown>): Promise<Work> {
  const { get, all, run } = Database.prototype;
  const seen = new Map<string, { readonly database: Database; readonly values: readonly SqlValue[] }>();
  let [statements, rows] = [0, 0];
  const note = (database: Database, sql: string, values: readonly SqlValue[]): void => {
    statements += 1;
    seen.set(sql, { database, values });
  };
  const scans = new Set<string>();
  Object.assign(Database.prototype, {
    get(this: Database, sql: string, ...values: SqlValue[]): StoredRow | undefined {
      note(this, sql, values);
      const row = get.call(this, sql, ...values);
      rows += row ? 1 : 0;
      return row;
    },
    all(this: Database, sql: string, ...values: SqlValue[]): StoredRow[] {
      note(this, sql, values);
      const found = all.call(this, sql, ...values);
      rows += found.length;
      return found;
    },
    run(this: Database, sql: string, ...values: SqlValue[]) {
      note(this, sql, values);
      return run.call(this, sql, ...values);
    },
  });
  try {
    await work();
  } finally {
    Object.assign(Database.prototype, { get, all, run });
  }
  for (const [sql, { database, values }] of seen) {
    if (!/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)/i.test(sql)) continue;
    for (const { detail } of database.all(`EXPLAIN QUERY PLAN ${sql}`, ...values))
      if (/^SCAN |\(rowid[<>]\?\)$/.test(String(detail))) scans.add(String(detail));
  }
  return { statements, rows, scans: [...scans].sort() };
}
