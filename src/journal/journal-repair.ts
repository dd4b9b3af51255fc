import { existsSync, renameSync } from 'node:fs';
import { basename } from 'node:path';
import { StorageError } from '../platform/errors.ts';
import type { SqlValue } from '../platform/sqlite/database.ts';
import { openReader } from '../platform/sqlite/load.ts';
import { approvalRow, salvagedApproval, writeApproval } from './approval-row.ts';
import { type AttemptTableName, attemptTables, carryAttempts } from './attempt-table.ts';
import { AuditChain } from './audit.ts';
import { intactBeginning } from './audit-carry.ts';
import type { AuditOrigin } from './audit-entry.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { type IntentRow, intentColumns, isIntact, recordOf } from './intent-row.ts';
import { IntentTable } from './intent-table.ts';
import { readSum, writeFact } from './journal-facts.ts';
import type { JournalRecord } from './journal-record.ts';
import { journalFile, journalMigrations, upgraded } from './journal-tables.ts';
import { lostIntents } from './lost-intents.ts';
import { lostReservations } from './lost-reservations.ts';
import { salvagedReservation } from './reservation-row.ts';
import { ReservationTable } from './reservation-table.ts';
import { readSeal, sealOf, writeSeal } from './seal.ts';
import { checkFree } from './take-over.ts';

export interface Repaired {
  /** Where the old journal lies now; undefined where there was none. */
  readonly aside: string | undefined;
  /** Records that are what was written. */
  readonly kept: number;
  /** Records that are not, and those in doubt of which only the audit chain tells; they are kept, and never sent. */
  readonly damaged: readonly JournalRecord[];
  /** How many have led to something a short while ago and are lost: the audit chain tells of them. */
  readonly lost: number;
  /** How many intents were recorded in all, as far as that is known; undefined where nothing says so. */
  readonly recorded: number | undefined;
  /** Records of the audit chain: carried over as they were, and left in the old file. */
  readonly chain: { readonly kept: number; readonly left: number };
  /** How many are lost, and how many were made up from the audit chain in their place, which may count too much. */
  readonly reservations: { readonly lost: number; readonly madeUp: number };
}

export interface RepairOptions extends OpenOptions {
  /** Names the old journal's file. */
  readonly stamp: string;
  readonly now: () => number;
  readonly origin: () => AuditOrigin;
}

/** How long reservations are kept, ms. */
const reservedMs = 400 * 24 * 3600 * 1000;

/** Records that ended before may have been deleted, ms. */
const madeMs = 29 * 24 * 3600 * 1000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Moves a journal aside and begins a new one with every record of it that can still be read. @throws ErrandError conflict where another process is at work on it; StorageError.
 */
export async function repairJournal(folder: string, options: RepairOptions): Promise<Repaired> {
  const { stamp, now, origin, ...opening } = options;
  const file = journalFile(folder);
  const seal = readSeal(sealOf(file));
  const grants = salvage(file, 'grants');
  const audited = salvage(file, 'audit');
  const read = salvage(file, 'intents').map(rowOf);
  const lost = lostIntents(audited, read, new Date(now() - madeMs).toISOString());
  const intents = [...read, ...lost.inDoubt];
  const beginning = intactBeginning(audited);
  const chain = { kept: beginning.length, left: audited.length - beginning.length };
  const approvals = salvage(file, 'approvals').flatMap((row) => salvagedApproval(row) ?? []);
  const reserved = salvage(file, 'reservations').flatMap((row) => salvagedReservation(row) ?? []);
  const facts = new Map(salvage(file, 'facts').map(({ name, value }) => [name, value]));
  const unreserved = Number(readSum(facts.get('reservations'))?.rows ?? 0n) - reserved.length;
  const madeUp = unreserved > 0 ? lostReservations(audited, reserved, now() - reservedMs) : [];
  const salt = facts.get('address_salt');
  const attempted = attemptTables.map((table) => [table, salvage(file, table)] as const);
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
      for (const [table, rows] of attempted)
        for (const row of rows) attempt(() => carryAttempts(database, table, row));
      const recorded = Math.max(seal ?? 0, written.length);
      table.tally.renew(recorded, written);
      for (const values of beginning) audit.insert(values);
      const oldFile = aside === undefined ? null : basename(aside);
      audit.append({ kind: 'repaired', detail: { aside: oldFile, ...chain, intents: counts, recorded } });
      return written;
    });
    if (kept.length > 0 || seal !== undefined) writeSeal(sealOf(file), Math.max(seal ?? 0, kept.length));
    const reservations = { lost: Math.max(unreserved, 0), madeUp: madeUp.length };
    return { aside, kept: counts.kept, damaged, lost: lost.made, recorded: seal, chain, reservations };
  } finally {
    database.close();
  }

  function insert(grant: Fields): void {
    database.run(
      'INSERT OR IGNORE INTO grants (order_id, base_url, api_key, receipt, created_at) VALUES (?, ?, ?, ?, ?)',
      ...['order_id', 'base_url', 'api_key', 'receipt', 'created_at'].map((name) => sqlValue(grant[name])),
    );
  }

  /** What damage has made of a row may not fit into the table. */
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

/** The rows of a table that can still be read, from its beginning and from its end. */
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
          if (typeof row === 'object' && row !== null) keep({ ...row });
      } finally {
        reader.close();
      }
    } catch {
      // Damaged from here on, or no database at all.
    }
  return [...rows.values()];

  function keep({ row_number: number, ...row }: Record<string, unknown>): void {
    rows.set(number, table === 'audit' ? row : withoutUnseen(row));
  }
}

/** Nothing of ours holds a NUL; some builds of SQLite read a text only up to one, others all of it. */
const withoutUnseen = (row: Fields): Fields =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.split('\0', 1)[0] : value,
    ]),
  );

/** A row as it was read; whether it is owed or recent follows from its state. */
function rowOf(fields: Fields): IntentRow {
  if (!('checksum' in fields)) return upgraded(fields);
  // Any value that SQLite stores; what does not fit is refused by the table.
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

/** With what SQLite and errand keep beside it. */
function moveAside(file: string, aside: string): void {
  for (const companion of ['', '-wal', '-shm'])
    if (existsSync(file + companion)) renameSync(file + companion, aside + companion);
}
