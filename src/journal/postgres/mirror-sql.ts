import type { StoredRow } from '../../platform/sqlite/database.ts';
import { jsonText, literal } from './connect.ts';
import { columnsOf, type Mirror, type MirroredTable, quoted } from './tables.ts';

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
