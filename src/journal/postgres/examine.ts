import type { DatabaseAddress } from '../../format/database-address.ts';
import type { Clock } from '../../platform/clock.ts';
import { StorageError } from '../../platform/errors.ts';
import { Connection } from './connect.ts';
import { schemaVersion } from './schema.ts';

/** What can be learned about a database without changing the database. */
export interface DatabaseFacts {
  /** Version as reported by the server, such as `15.8`. */
  readonly server: string;
  /** Round-trip time, ms. */
  readonly latencyMs: number;
  /** How many ms this machine's clock is ahead of the database's clock. */
  readonly aheadMs: number;
  readonly role: string;
  readonly isEncrypted: boolean;
  /** The server is read-only. */
  readonly isStandby: boolean;
  /** Durability settings that are off, so that a power cut may lose commits. */
  readonly off: readonly string[];
  /** Whether the role may use the schema. If the schema is missing, whether the role may create it. */
  readonly mayUse: boolean;
  readonly hasSchema: boolean;
  /** Undefined if nothing has used the database yet. */
  readonly schema: { readonly version: number; readonly known: number } | undefined;
  /** Number of processes that hold a lease now, and number of machines on which they run. */
  readonly atWork: { readonly processes: number; readonly machines: number };
}

/**
 * @param signal aborts the examination quickly. @throws StorageError if the database is unreachable; the signal's abort
 * reason.
 */
export async function examineDatabase(
  address: DatabaseAddress,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  signal: AbortSignal,
): Promise<DatabaseFacts> {
  const connection = new Connection(address, signal);
  try {
    const [found = {}] = await connection.ask(serverSql);
    const startedAt = clock.monotonic();
    const [now = {}] = await connection.ask('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS time');
    const latencyMs = clock.monotonic() - startedAt;
    const aheadMs = clock.now() - latencyMs / 2 - Number(now.time);
    const isMade = found.is_made === true && found.may_use === true;
    const [schema] = isMade ? await connection.ask('SELECT version FROM errand.schema') : [];
    const [leases] = schema ? await connection.ask(leasesSql) : [];
    return {
      server: String(found.server),
      latencyMs: Math.round(latencyMs),
      aheadMs: Math.round(aheadMs),
      role: String(found.role),
      isEncrypted: found.is_encrypted === true,
      isStandby: found.is_standby === true,
      off: ['fsync', 'full_page_writes'].filter((name) => found[name] === 'off'),
      mayUse: found.may_use === true,
      hasSchema: found.has_schema === true,
      schema: schema && { version: Number(schema.version), known: schemaVersion },
      atWork: { processes: Number(leases?.processes ?? 0), machines: Number(leases?.machines ?? 0) },
    };
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    throw new StorageError(`the database ${address.shown} cannot be examined`, { cause });
  } finally {
    connection.drop();
  }
}

const serverSql = `SELECT current_setting('server_version') AS server, current_user AS role,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted,
  (pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on') AS is_standby, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  to_regnamespace('errand') IS NOT NULL AS has_schema,
  CASE WHEN to_regnamespace('errand') IS NULL THEN has_database_privilege(current_database(), 'CREATE')
    ELSE has_schema_privilege('errand', 'USAGE') AND has_schema_privilege('errand', 'CREATE') END AS may_use,
  CASE WHEN to_regnamespace('errand') IS NULL OR NOT has_schema_privilege('errand', 'USAGE') THEN false
    ELSE to_regclass('errand.schema') IS NOT NULL END AS is_made`;

const leasesSql = `SELECT count(*) AS processes, count(DISTINCT host) AS machines FROM errand.leases
  WHERE until > extract(epoch FROM clock_timestamp()) * 1000`;
