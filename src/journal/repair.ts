import { existsSync, renameSync } from 'node:fs';
import { basename } from 'node:path';
import { StorageError } from '../platform/errors.ts';
import type { SqlValue } from '../platform/sqlite/database.ts';
import { openReader } from '../platform/sqlite/load.ts';
import { approvalRow, salvagedApproval, writeApproval } from './approval-row.ts';
import {
  AttemptTable,
  type AttemptTableName,
  attemptTables,
  carryAttempts,
  type SalvagedAttempts,
  withoutSecret,
} from './attempt-table.ts';
import { AuditChain } from './audit.ts';
import type { AuditOrigin } from './audit-entry.ts';
import { auditColumns, firstPrevious, hashOf, recordOfRow } from './audit-record.ts';
import { carriedAttempts } from './carried-attempts.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { readRecordCount, recordCountFileOf, writeRecordCount } from './integrity.ts';
import { type IntentRow, intentColumns, isIntact, recordOf } from './intent-row.ts';
import { IntentTable } from './intents.ts';
import { readSum, writeFact } from './journal-facts.ts';
import type { JournalRecord } from './journal-record.ts';
import { journalFile, journalMigrations, upgraded } from './journal-tables.ts';
import { lostIntents } from './lost-intents.ts';
import { type Reservation, ReservationTable, salvagedReservation, unknownIntent } from './reservation-row.ts';
import { checkFree } from './take-over.ts';

export interface Repaired {
  /** Path to which the old journal was moved; undefined if there was no old journal. */
  readonly aside: string | undefined;
  /** Records that passed verification. */
  readonly kept: number;
  /**
   * Records that failed verification, and in-doubt records known only from the audit chain. Such records are stored but
   * never sent.
   */
  readonly damaged: readonly JournalRecord[];
  /** Number of recently fulfilled intents whose records are lost. Only the audit chain still has them. */
  readonly lost: number;
  /** Total intents ever recorded; undefined if unknown. */
  readonly recorded: number | undefined;
  /**
   * Number of audit records that were copied unchanged (`kept`), and number of those that stayed in the old file
   * (`left`).
   */
  readonly chain: { readonly kept: number; readonly left: number };
  /**
   * Number of reservations lost, and number of reservations rebuilt from the audit chain as replacements. The second
   * number may be too high.
   */
  readonly reservations: { readonly lost: number; readonly madeUp: number };
}

export interface RepairOptions extends OpenOptions {
  /** File name suffix of the old journal. */
  readonly stamp: string;
  readonly now: () => number;
  readonly origin: () => AuditOrigin;
}

/** Retention of reservations, ms. */
const reservedMs = 400 * 24 * 3600 * 1000;

/** Age, in ms, beyond which records that have ended may have been purged. */
const madeMs = 29 * 24 * 3600 * 1000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Moves a journal aside and starts a new one that contains every record which can still be read.
 * @throws ErrandError conflict if another process is using the journal; StorageError.
 */
export async function repairJournal(folder: string, options: RepairOptions): Promise<Repaired> {
  const { stamp, now, origin, ...opening } = options;
  const file = journalFile(folder);
  const recordCount = readRecordCount(recordCountFileOf(file));
  const grants = salvage(file, 'grants');
  const audited = salvage(file, 'audit');
  const read = salvage(file, 'intents').map(rowOf);
  const lost = lostIntents(audited, read, new Date(now() - madeMs).toISOString());
  const intents = [...read, ...lost.inDoubt];
  const intactPrefix = intactPrefixOf(audited);
  const chain = { kept: intactPrefix.length, left: audited.length - intactPrefix.length };
  const approvals = salvage(file, 'approvals').flatMap((row) => salvagedApproval(row) ?? []);
  const reserved = salvage(file, 'reservations').flatMap((row) => salvagedReservation(row) ?? []);
  const facts = new Map(salvage(file, 'facts').map(({ name, value }) => [name, value]));
  const unreserved = Number(readSum(facts.get('reservations'))?.rows ?? 0n) - reserved.length;
  const madeUp = unreserved > 0 ? lostReservations(audited, reserved, now() - reservedMs) : [];
  const salt = facts.get('address_salt');
  const attempts: SalvagedAttempts = {
    attempt_settings: salvage(file, 'attempt_settings'),
    attempt_accounts: salvage(file, 'attempt_accounts'),
    attempts: salvage(file, 'attempts'),
    attempt_parts: salvage(file, 'attempt_parts'),
  };
  for (const row of intents) if (isIntact(row) && row.live === 2) checkFree(recordOf(row));
  const aside = existsSync(file) ? `${file}.${stamp}` : undefined;
  if (aside !== undefined) moveAside(file, aside);
  const database = await openStateDatabase(file, journalMigrations, opening);
  try {
    const table = new IntentTable(database);
    const audit = new AuditChain(database, now, origin);
    const damaged = intents.filter((row) => !isIntact(row)).map(recordOf);
    const counts = { kept: intents.length - damaged.length, damaged: damaged.length };
    const kept = await database.transaction(() => {
      const written = intents.filter((row) => attempt(() => table.write(row, undefined)));
      for (const grant of grants) attempt(() => insert(grant));
      for (const approval of approvals) attempt(() => database.run(writeApproval, ...approvalRow(approval)));
      const held = new ReservationTable(database, table.tally);
      for (const reservation of [...reserved, ...madeUp]) attempt(() => held.write([reservation]));
      if (typeof salt === 'string') writeFact(database, 'address_salt', salt);
      const hashed = withoutSecret(attempts);
      if (hashed) new AttemptTable(database).enter(carriedAttempts(hashed, intents));
      else
        for (const name of attemptTables)
          for (const row of attempts[name]) attempt(() => carryAttempts(database, name, row));
      const recorded = Math.max(recordCount ?? 0, written.length);
      table.tally.renew(recorded, written);
      for (const values of intactPrefix) audit.insert(values);
      const oldFile = aside === undefined ? null : basename(aside);
      audit.append({ kind: 'repaired', detail: { aside: oldFile, ...chain, intents: counts, recorded } });
      return written;
    });
    if (kept.length > 0 || recordCount !== undefined)
      writeRecordCount(recordCountFileOf(file), Math.max(recordCount ?? 0, kept.length));
    const reservations = { lost: Math.max(unreserved, 0), madeUp: madeUp.length };
    return { aside, kept: counts.kept, damaged, lost: lost.made, recorded: recordCount, chain, reservations };
  } finally {
    database.close();
  }

  function insert(grant: Fields): void {
    database.run(
      'INSERT OR IGNORE INTO grants (order_id, base_url, api_key, receipt, created_at) VALUES (?, ?, ?, ?, ?)',
      ...['order_id', 'base_url', 'api_key', 'receipt', 'created_at'].map((name) => sqlValue(grant[name])),
    );
  }

  /** Runs a write that may fail, because a damaged row can violate the table's constraints. */
  function attempt(write: () => void): boolean {
    try {
      database.savepoint(write);
      return true;
    } catch (error) {
      if (error instanceof StorageError) return false;
      throw error;
    }
  }
}

/** Reads every row still readable, scanning the table from both ends. */
function salvage(
  file: string,
  table: 'intents' | 'grants' | 'audit' | 'reservations' | 'approvals' | 'facts' | AttemptTableName,
): Fields[] {
  const rows = new Map<unknown, Fields>();
  for (const order of ['ASC', 'DESC'])
    try {
      const reader = openReader(file);
      try {
        const sql = `SELECT rowid AS row_number, * FROM ${table} NOT INDEXED ORDER BY rowid ${order}`;
        for (const row of reader.prepare(sql).iterate())
          if (typeof row === 'object' && row !== null) add({ ...row });
      } finally {
        reader.close();
      }
    } catch {
      // From here on, the table is damaged. Or the file is not a database at all.
    }
  return [...rows.values()];

  function add({ row_number: number, ...row }: Record<string, unknown>): void {
    rows.set(number, table === 'audit' ? row : withoutUnseen(row));
  }
}

/**
 * Cuts strings at the first NUL. errand never stores a NUL, and whether SQLite reads past a NUL depends on its build.
 */
const withoutUnseen = (row: Fields): Fields =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.split('\0', 1)[0] : value,
    ]),
  );

/** Rebuilds a row from the fields that were read. Derives `live` from the row's state. */
function rowOf(fields: Fields): IntentRow {
  if (!('checksum' in fields)) return upgraded(fields);
  // Each field may be any SQLite value. The table's constraints reject invalid values.
  const row = Object.fromEntries(
    intentColumns.map((name) => [name, sqlValue(fields[name])]),
  ) as unknown as IntentRow;
  return { ...row, live: liveOf(row) };
}

function liveOf(row: IntentRow): number {
  if (!isIntact(row) || row.state === 'intended' || row.state === 'responded') return 2;
  return row.state === 'reported' ? 1 : 0;
}

const sqlValue = (value: unknown): SqlValue =>
  typeof value === 'string' || typeof value === 'number' ? value : null;

/** Moves a database file, and the `-wal` and `-shm` files that belong to it. */
function moveAside(file: string, aside: string): void {
  for (const companion of ['', '-wal', '-shm'])
    if (existsSync(file + companion)) renameSync(file + companion, aside + companion);
}

type RowFields = Readonly<Record<string, unknown>>;

/**
 * Rebuilds lost reservations from the audit chain. An intent that may have spent money and has no reservation gets one,
 * with the intent's maximum cost and the approval that the intent used. The new reservation does not say what the money
 * was for. Ignores audit records whose hash does not match. Pure.
 * @param rows are the records of the chain.
 * @param since is in ms since the epoch. Older intents are ignored.
 */
function lostReservations(
  rows: readonly RowFields[],
  there: readonly Reservation[],
  since: number,
): Reservation[] {
  const covered = new Set(
    there.flatMap(({ intents, baseUrl }) => intents.map((intent) => idOf(intent, baseUrl))),
  );
  const made = new Map<string, Reservation>();
  const approvals = new Map<string, string>();
  for (const row of rows.toSorted((one, other) => Number(one.number) - Number(other.number))) {
    const { hash, key, service, kind, ...record } = recordOfRow(row);
    if (hashOf({ key, service, kind, ...record }) !== hash) continue;
    const id = idOf(key, service);
    const known = made.get(id);
    const at = Date.parse(String(record.time));
    // In the same transaction, an `approval_used` record precedes the intent that uses the approval.
    if (kind === 'approval_used') approvals.set(id, String(Object(record.detail).approval));
    else if (kind === 'refused') made.delete(id);
    else if (kind === 'responded' && known) made.set(id, { ...known, orderId: String(record.order_id) });
    else if (kind === 'intent' && !covered.has(id) && at >= since && typeof record.amount_cents === 'number')
      made.set(id, {
        ...{ key: String(key), baseUrl: String(service), account: String(Object(record.detail).account) },
        ...{ state: 'held', at: known?.at ?? at, cents: record.amount_cents, counted: record.amount_cents },
        ...{ feeCents: 0, isRehearsal: false, orderId: undefined, pid: 0, started: '', override: undefined },
        approval: approvals.get(id),
        intents: [String(key), unknownIntent],
        facts: { retailers: [], metadata: [], products: [], recipient: '' },
      });
  }
  return [...made.values()];
}

const idOf = (key: unknown, service: unknown): string => JSON.stringify([key, service]);

type EntryFields = Readonly<Record<string, unknown>>;

/** The longest unaltered prefix of a chain, among the rows still readable. Pure. */
function intactPrefixOf(rows: readonly EntryFields[]): SqlValue[][] {
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
