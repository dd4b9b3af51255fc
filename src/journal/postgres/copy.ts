import type { SqlValue, StoredRow } from '../../platform/sqlite/database.ts';
import type { DatabaseRow } from './connect.ts';
import type { Change } from './mirror-sql.ts';
import { columnsOf, type Mirror, type MirroredTable, quoted } from './tables.ts';

/** What is done to a copy, within a transaction of it. */
export interface CopyStatements {
  get(sql: string, ...values: SqlValue[]): StoredRow | undefined;
  all(sql: string, ...values: SqlValue[]): StoredRow[];
  run(sql: string, ...values: SqlValue[]): unknown;
}

/** The head of a group of tables, as it was read. */
export interface Head {
  /** Which database it is: one that was made anew has another. */
  readonly id: string;
  readonly seq: number;
  /** Removals up to this number are forgotten. */
  readonly purged: number;
  /** Of the schema. */
  readonly version: number;
  /** Ms since the epoch. */
  readonly time: number;
  /** Whether the audit chain goes on from where the copy's ends. */
  readonly follows: boolean;
}

/** What was read of a group of tables since a number. */
export interface Pulled {
  readonly since: number;
  readonly head: Head;
  readonly rows: readonly (readonly [table: string, row: DatabaseRow])[];
  readonly removed: readonly { readonly table: string; readonly key: string }[];
}

/** Which database a copy is of, and how far it has come; and the leases of this machine's own processes: whether one still runs shows by its pid, before the lease ends. */
export const createCopy =
  "CREATE TABLE own_processes (id TEXT PRIMARY KEY, place TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL, at INTEGER NOT NULL) STRICT; CREATE TABLE copy (id INTEGER PRIMARY KEY CHECK (id = 1), of TEXT NOT NULL, seq INTEGER NOT NULL) STRICT; INSERT INTO copy VALUES (1, '', 0)";

export function copyState(copy: CopyStatements): { readonly of: string; readonly seq: number } {
  const row = copy.get('SELECT of, seq FROM copy WHERE id = 1');
  return { of: String(row?.of ?? ''), seq: Number(row?.seq ?? 0) };
}

export function writeCopyState(copy: CopyStatements, of: string, seq: number): void {
  copy.run('UPDATE copy SET of = ?, seq = ? WHERE id = 1', of, seq);
}

/** @param since what was asked for. */
export function pulledOf(rows: readonly DatabaseRow[], since: number): Pulled {
  let head: Head | undefined;
  const changed: (readonly [string, DatabaseRow])[] = [];
  const removed: { table: string; key: string }[] = [];
  for (const { name, row } of rows) {
    const fields: Record<string, unknown> = Object(row);
    if (name === '')
      head = {
        id: String(fields.id),
        seq: Number(fields.seq),
        purged: Number(fields.purged),
        version: Number(fields.version),
        time: Number(fields.time),
        follows: fields.follows === true,
      };
    else if (name === '-') removed.push({ table: String(fields.table), key: String(fields.key) });
    else if (typeof name === 'string') changed.push([name, fields]);
  }
  if (!head) throw new Error('the database told nothing of its head');
  return { since, head, rows: changed, removed };
}

/** Within a transaction of the copy: it becomes what was read. */
export function applyPulled(copy: CopyStatements, { tables }: Mirror, { head, rows, removed }: Pulled): void {
  for (const table of tables) {
    const own = removed.filter((gone) => gone.table === table.name).map(({ key }) => key);
    const changed = rows.filter(([name]) => name === table.name).map(([, row]) => row);
    applyChange(copy, { table, rows: changed, removed: own });
  }
  writeCopyState(copy, head.id, head.seq);
}

/** The same with what this process has written itself. */
export function applyChange(copy: CopyStatements, { table, rows, removed }: Change): void {
  const columns = columnsOf(table);
  const remove = `DELETE FROM "${table.name}" WHERE ${table.key.map((name) => `"${name}" = ?`).join(' AND ')}`;
  for (const key of removed) copy.run(remove, ...sqlValues(JSON.parse(key)));
  const insert = `INSERT OR ${table.isAppendOnly ? 'IGNORE' : 'REPLACE'} INTO "${table.name}" (${quoted(columns)}) VALUES (${columns.map(() => '?').join(', ')})`;
  for (const row of rows) copy.run(insert, ...sqlValues(columns.map((name) => row[name])));
}

/** SQL that makes the running process note which rows it touches. Temporary: other processes have triggers of their own. */
export const watchSql = ({ tables }: Mirror): string =>
  [
    // An upsert that fires a trigger would turn its OR IGNORE into a failure, so that a row may stand here twice.
    'CREATE TEMP TABLE IF NOT EXISTS touched (name TEXT NOT NULL, key TEXT NOT NULL)',
    ...tables.flatMap(({ name, key }) =>
      [
        ['INSERT', 'NEW'],
        ['UPDATE', 'NEW'],
        ['DELETE', 'OLD'],
      ].map(
        ([
          event,
          row,
        ]) => `CREATE TEMP TRIGGER IF NOT EXISTS touch_${name}_${event} AFTER ${event} ON main."${name}" BEGIN
          INSERT INTO touched VALUES ('${name}', json_array(${key.map((column) => `${row}."${column}"`).join(', ')})); END`,
      ),
    ),
  ].join(';\n');

/** Within a transaction: what it has written so far. */
export function touchedRows(copy: CopyStatements, { tables }: Mirror): Change[] {
  const touched = copy.all('SELECT DISTINCT name, key FROM temp.touched');
  return tables.flatMap((table) => {
    const keys = touched.filter(({ name }) => name === table.name).map(({ key }) => String(key));
    return keys.length === 0 ? [] : [changeOf(copy, table, keys)];
  });
}

function changeOf(copy: CopyStatements, table: MirroredTable, keys: readonly string[]): Change {
  const sql = `SELECT ${quoted(columnsOf(table))} FROM "${table.name}" WHERE ${table.key.map((name) => `"${name}" = ?`).join(' AND ')}`;
  const found = keys.map((key) => {
    const values: unknown[] = JSON.parse(key);
    return { key, row: copy.get(sql, ...sqlValues(values)) };
  });
  return {
    table,
    rows: found.flatMap(({ row }) => (row ? [row] : [])),
    removed: found.filter(({ row }) => !row).map(({ key }) => key),
  };
}

/** Everything that a copy holds, for a database that holds nothing yet. */
export const allRows = (copy: CopyStatements, { tables }: Mirror): Change[] =>
  tables.map((table) => ({
    table,
    rows: copy.all(`SELECT ${quoted(columnsOf(table))} FROM "${table.name}"`),
    removed: [],
  }));

const sqlValues = (values: readonly unknown[]): SqlValue[] =>
  values.map((value) => (typeof value === 'string' || typeof value === 'number' ? value : null));
