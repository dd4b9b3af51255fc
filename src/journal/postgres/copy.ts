import type { SqlValue, StoredRow } from '../../platform/sqlite/database.ts';
import { type DatabaseRow, jsonText, literal } from './connect.ts';
import { columnsOf, type Mirror, type MirroredTable, quoted } from './tables.ts';

/** What is done to a copy, within a transaction of it. */
interface CopyStatements {
  get(sql: string, ...values: SqlValue[]): StoredRow | undefined;
  all(sql: string, ...values: SqlValue[]): StoredRow[];
  run(sql: string, ...values: SqlValue[]): unknown;
}

/** The head of a group of tables, as it was read. */
interface Head {
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

/** What a transaction has written to one table. */
export interface Change {
  readonly table: MirroredTable;
  readonly rows: readonly StoredRow[];
  /** Keys of rows that are gone, as JSON of their values. */
  readonly removed: readonly string[];
}

/** The newest record of the audit chain that a copy holds. */
export interface ChainEnd {
  readonly number: number;
  readonly hash: string;
}

/** A group of tables as it is read: its head, and what has changed since a number. @param end which the database must hold too. */
export const pullSql = ({ name, tables }: Mirror, since: number, end?: ChainEnd): string =>
  [
    `SELECT '' AS name, json_build_object('id', id, 'seq', seq, 'purged', purged,
       'version', (SELECT version FROM errand.schema), 'follows', ${followsSql(end)},
       'time', (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS row FROM errand.heads WHERE name = '${name}'`,
    `SELECT '-' AS name, json_build_object('table', name, 'key', key) AS row FROM errand.removed
       WHERE head = '${name}' AND seq > ${since}`,
    ...tables.map(
      (table) =>
        `SELECT '${table.name}' AS name, to_json(found) AS row FROM
           (SELECT ${quoted(columnsOf(table))} FROM errand.${table.name} WHERE seq > ${since}) AS found`,
    ),
  ].join('\nUNION ALL ');

const followsSql = (end: ChainEnd | undefined): string =>
  end === undefined
    ? 'true'
    : `coalesce((SELECT hash FROM errand.audit WHERE number = ${end.number}) = ${literal(end.hash)}, false)`;

/** The lock of a group: whoever has it reads what is there, and nobody else writes. */
export const lockSql = ({ name }: Mirror): string =>
  `BEGIN; SELECT 1 AS locked FROM errand.heads WHERE name = '${name}' FOR UPDATE`;

/** The code of what `pushSql` raises where another was faster. */
export const overtakenCode = 'ER001';
/** What the schema raises where a record does not follow from the one before it. */
export const brokenChainCode = 'ER003';
/** The same where the schema is no longer that of this program. */
export const newerCode = 'ER002';

/**
 * Writes changes, durably, if nobody has written since `seq`. To be sent in one piece: all of it is done, or nothing.
 * @param version of the schema that the program knows.
 */
export const pushSql = (mirror: Mirror, seq: number, changes: readonly Change[], version: number): string => {
  const next = seq + 1;
  return [
    `DO $$ BEGIN
       UPDATE errand.heads SET seq = ${next} WHERE name = '${mirror.name}' AND seq = ${seq};
       IF NOT FOUND THEN RAISE EXCEPTION 'overtaken' USING ERRCODE = '${overtakenCode}'; END IF;
       IF (SELECT version FROM errand.schema) <> ${version}
       THEN RAISE EXCEPTION 'newer' USING ERRCODE = '${newerCode}'; END IF;
     END $$`,
    ...changes.flatMap((change) => [
      ...(change.rows.length > 0 ? [upsertSql(change, next)] : []),
      ...(change.removed.length > 0 ? [removeSql(mirror, change, next)] : []),
    ]),
  ].join(';\n');
};

function upsertSql({ table, rows }: Change, seq: number): string {
  const columns = columnsOf(table);
  const types = [
    ...table.texts.map((name) => `"${name}" text`),
    ...table.numbers.map((name) => `"${name}" bigint`),
  ];
  const insert = `INSERT INTO errand.${table.name} (${quoted(columns)}, seq)
    SELECT ${quoted(columns)}, ${seq} FROM json_to_recordset(${jsonText(rows)}) AS given (${types.join(', ')})`;
  if (table.isAppendOnly) return insert;
  return `${insert} ON CONFLICT (${quoted(table.key)}) DO UPDATE SET ${[...columns, 'seq']
    .map((name) => `"${name}" = excluded."${name}"`)
    .join(', ')}`;
}

/** A row that comes back later has a higher number than its removal; a copy takes removals first. */
function removeSql(mirror: Mirror, { table, removed }: Change, seq: number): string {
  const keys = `json_array_elements_text(${jsonText(removed)})`;
  const own = `(${table.key.map((name) => `"${name}"`).join(', ')})`;
  const given = table.key.map((name, at) => {
    const value = `(gone::json ->> ${at})`;
    return table.numbers.includes(name) ? `${value}::bigint` : value;
  });
  return `DELETE FROM errand.${table.name} WHERE ${own} IN (SELECT ${given.join(', ')} FROM ${keys} AS gone);
    INSERT INTO errand.removed (head, name, key, seq) SELECT ${literal(mirror.name)}, ${literal(table.name)}, gone, ${seq}
      FROM ${keys} AS gone ON CONFLICT (head, name, key) DO UPDATE SET seq = excluded.seq, at = now();
    WITH old AS (DELETE FROM errand.removed WHERE head = '${mirror.name}' AND at < now() - interval '30 days' RETURNING seq)
      UPDATE errand.heads SET purged = greatest(purged, (SELECT max(seq) FROM old))
        WHERE name = '${mirror.name}' AND EXISTS (SELECT 1 FROM old)`;
}
