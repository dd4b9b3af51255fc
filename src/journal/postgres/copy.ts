import { jsonIn } from '../../api/json.ts';
import { StorageError } from '../../platform/errors.ts';
import type { SqlValue, StoredRow } from '../../platform/sqlite/database.ts';
import { type DatabaseRow, jsonText, literal } from './connect.ts';
import { columnsOf, type Mirror, type MirroredTable, quoted } from './tables.ts';

/** Statements to run on a copy, within a transaction. */
interface CopyStatements {
  get(sql: string, ...values: SqlValue[]): StoredRow | undefined;
  all(sql: string, ...values: SqlValue[]): StoredRow[];
  run(sql: string, ...values: SqlValue[]): unknown;
}

/** State of a table group in the shared database, as read. */
interface Head {
  /** Identity of the database; a recreated one gets a new id. */
  readonly id: string;
  readonly seq: number;
  /** The database has purged the removals up to this sequence number. */
  readonly purged: number;
  /** Schema version. */
  readonly version: number;
  /** Ms since the epoch. */
  readonly time: number;
  /** Whether the database's audit chain contains the last record of the copy's chain. */
  readonly follows: boolean;
  /** Read only if requested. */
  readonly attempts: AttemptSettings | undefined;
}

/** What is needed to look up attempts. A copy holds no attempts. */
export interface AttemptSettings {
  /** Key of the hashes by which attempts are found. */
  readonly secret: string;
  /** 1 once attempts have been imported from the records of earlier versions. */
  readonly imported: number;
  readonly accounts: readonly DatabaseRow[];
}

/** Changes read from a table group since a sequence number. */
export interface Pulled {
  readonly since: number;
  readonly head: Head;
  readonly rows: readonly (readonly [table: string, row: DatabaseRow])[];
  readonly removed: readonly { readonly table: string; readonly key: string }[];
}

/**
 * Creates two tables of a copy. `copy` says which database the copy mirrors, and up to which change. `own_processes`
 * holds the leases and pids of this machine's processes. A pid shows that a process is dead before the lease of that
 * process expires.
 */
export const createCopy =
  "CREATE TABLE own_processes (id TEXT PRIMARY KEY, place TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL, at INTEGER NOT NULL) STRICT; CREATE TABLE copy (id INTEGER PRIMARY KEY CHECK (id = 1), of TEXT NOT NULL, seq INTEGER NOT NULL) STRICT; INSERT INTO copy VALUES (1, '', 0)";

export function copyState(copy: CopyStatements): { readonly of: string; readonly seq: number } {
  const row = copy.get('SELECT of, seq FROM copy WHERE id = 1');
  return { of: String(row?.of ?? ''), seq: Number(row?.seq ?? 0) };
}

export function writeCopyState(copy: CopyStatements, of: string, seq: number): void {
  copy.run('UPDATE copy SET of = ?, seq = ? WHERE id = 1', of, seq);
}

/** @param since is the sequence number that was requested. @throws StorageError. */
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
        attempts: settingsOf(fields.attempts),
      };
    else if (name === '-') removed.push({ table: String(fields.table), key: String(fields.key) });
    else if (typeof name === 'string') changed.push([name, fields]);
  }
  if (!head)
    throw new StorageError('the shared database lacks a row of its table heads; nothing was sent', {
      hint: 'Somebody has deleted it: see who has the role of the database, and restore a backup.',
    });
  return { since, head, rows: changed, removed };
}

function settingsOf(read: unknown): AttemptSettings | undefined {
  if (read === undefined) return undefined;
  const { secret, imported, accounts }: Record<string, unknown> = Object(read);
  const rows: DatabaseRow[] = Array.isArray(accounts) ? accounts : [];
  return { secret: String(secret), imported: Number(imported), accounts: rows };
}

/** Applies pulled changes to the copy. Call within a transaction. */
export function applyPulled(copy: CopyStatements, { tables }: Mirror, { head, rows, removed }: Pulled): void {
  for (const table of tables) {
    const own = removed.filter((gone) => gone.table === table.name).map(({ key }) => key);
    const changed = rows.filter(([name]) => name === table.name).map(([, row]) => row);
    applyChange(copy, { table, rows: changed, removed: own });
  }
  writeCopyState(copy, head.id, head.seq);
}

/** Applies changes to one table. The changes were pulled, or this process made them. */
export function applyChange(copy: CopyStatements, { table, rows, removed }: Change): void {
  const columns = columnsOf(table);
  const remove = `DELETE FROM "${table.name}" WHERE ${table.key.map((name) => `"${name}" = ?`).join(' AND ')}`;
  for (const key of removed) {
    const values = jsonIn(key);
    // A key that errand did not write names no row.
    if (Array.isArray(values) && values.length === table.key.length) copy.run(remove, ...sqlValues(values));
  }
  const insert = `INSERT OR ${table.isAppendOnly ? 'IGNORE' : 'REPLACE'} INTO "${table.name}" (${quoted(columns)}) VALUES (${columns.map(() => '?').join(', ')})`;
  for (const row of rows) copy.run(insert, ...sqlValues(columns.map((name) => row[name])));
}

/**
 * SQL for triggers that record which rows this process writes or deletes. The triggers are temporary, so each process
 * has its own.
 */
export const watchSql = ({ tables }: Mirror): string =>
  [
    // The table has no unique key, so rows may repeat. With a unique key, a repeated row would fail: an upsert that
    // fires the trigger overrides the OR IGNORE in the trigger.
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

/** The rows written so far in this transaction. */
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

/** Every row of a copy, to fill an empty database. */
export const allRows = (copy: CopyStatements, { tables }: Mirror): Change[] =>
  tables.map((table) => ({
    table,
    rows: copy.all(`SELECT ${quoted(columnsOf(table))} FROM "${table.name}"`),
    removed: [],
  }));

const sqlValues = (values: readonly unknown[]): SqlValue[] =>
  values.map((value) => (typeof value === 'string' || typeof value === 'number' ? value : null));

/** A transaction's changes to one table. */
export interface Change {
  readonly table: MirroredTable;
  readonly rows: readonly StoredRow[];
  /** Keys of deleted rows, as JSON arrays of their values. */
  readonly removed: readonly string[];
}

/** The newest audit record in a copy. */
export interface ChainEnd {
  readonly number: number;
  readonly hash: string;
}

/** What to read besides the changes. */
export interface PullOptions {
  /** The copy's newest audit record. The head says whether the database has the same record. */
  readonly end?: ChainEnd | undefined;
  /** Whether to read the settings of attempts too. */
  readonly withAttempts?: boolean;
}

/** Reads the head of a table group, and all changes to the group since a sequence number. */
export const pullSql = (
  { name, tables }: Mirror,
  since: number,
  { end, withAttempts = false }: PullOptions = {},
): string =>
  [
    `SELECT '' AS name, json_build_object('id', id, 'seq', seq, 'purged', purged,
       'version', (SELECT version FROM errand.schema), 'follows', ${followsSql(end)},${withAttempts ? attemptsSql : ''}
       'time', (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS row FROM errand.heads WHERE name = '${name}'`,
    `SELECT '-' AS name, json_build_object('table', name, 'key', key) AS row FROM errand.removed
       WHERE head = '${name}' AND seq > ${since}`,
    ...tables.map(
      (table) =>
        `SELECT '${table.name}' AS name, to_json(found) AS row FROM
           (SELECT ${quoted(columnsOf(table))} FROM errand.${table.name} WHERE seq > ${since}) AS found`,
    ),
  ].join('\nUNION ALL ');

const attemptsSql = `
       'attempts', (SELECT json_build_object('secret', secret, 'imported', imported, 'accounts',
         (SELECT json_agg(account ORDER BY id) FROM errand.attempt_accounts AS account))
         FROM errand.attempt_settings WHERE id = 1),`;

const followsSql = (end: ChainEnd | undefined): string =>
  end === undefined
    ? 'true'
    : `coalesce((SELECT hash FROM errand.audit WHERE number = ${end.number}) = ${literal(end.hash)}, false)`;

/** Locks a table group, which blocks other writers until the transaction ends. */
export const lockSql = ({ name }: Mirror): string =>
  `BEGIN; SELECT 1 AS locked FROM errand.heads WHERE name = '${name}' FOR UPDATE`;

/** Error code of `pushSql` when another process wrote first. */
export const overtakenCode = 'ER001';
/** Error code raised by the schema when an audit record does not continue the chain. */
export const brokenChainCode = 'ER003';
/** Error code for a claim if attempts have changed since the claim was prepared. */
export const outdatedCode = 'ER004';
/** Error code for a claim if an account has come since that may belong to the same user. */
export const newAccountCode = 'ER005';
/** Error code of `pushSql` when the schema version differs from this program's. */
export const newerCode = 'ER002';

/** What one transaction writes. */
export interface Written {
  readonly changes: readonly Change[];
  /** Statements for tables that are not mirrored. */
  readonly others: readonly string[];
}

/**
 * Writes changes durably if nobody has written since `seq`. The statements must be sent as one query, so that they take
 * effect together.
 * @param version is the schema version that this program expects.
 */
export const pushSql = (
  mirror: Mirror,
  seq: number,
  { changes, others }: Written,
  version: number,
): string => {
  const next = seq + 1;
  return [
    `DO $$ BEGIN
       UPDATE errand.heads SET seq = ${next} WHERE name = '${mirror.name}' AND seq = ${seq};
       IF NOT FOUND THEN RAISE EXCEPTION 'overtaken' USING ERRCODE = '${overtakenCode}'; END IF;
       IF (SELECT version FROM errand.schema) <> ${version}
       THEN RAISE EXCEPTION 'newer' USING ERRCODE = '${newerCode}'; END IF;
     END $$`,
    ...others,
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

/**
 * If a removed row is inserted again later, the row gets a higher number than its removal. Copies apply removals before
 * rows, so the row survives.
 */
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
