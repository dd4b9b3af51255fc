import { copyFolder, type Sharing } from '../../format/database-address.ts';
import type { Database } from '../../platform/sqlite/database.ts';
import { approvalOf, approvalRow, writeApproval } from '../approval-row.ts';
import { AttemptTable } from '../attempt-table.ts';
import type { AttemptChange } from '../attempts.ts';
import { AuditChain, intentEntry, movedEntry, stepEntry } from '../audit.ts';
import type { AuditOrigin, ReservedByIntent } from '../audit-entry.ts';
import { contentHash } from '../content.ts';
import { type OpenOptions, openStateDatabase } from '../database.ts';
import { earlierAttempts } from '../earlier-attempts.ts';
import { damagedAdvice, readRecordCount, recordCountFileOf } from '../integrity.ts';
import { entryOf } from '../intent-proof.ts';
import { type IntentRow, isIntact, ownerOf, recordOf, withChecksum } from '../intent-row.ts';
import { IntentTable } from '../intents.ts';
import { addressSalt } from '../journal-facts.ts';
import type { IntentState, JournalRecord, Signer } from '../journal-record.ts';
import { journalFile, journalMigrations } from '../journal-tables.ts';
import type { Mac } from '../mac.ts';
import { isAlive, isSelf, nobodyAtWork, self } from '../owner.ts';
import { type Reservation, ReservationTable, reservationOf, storedReservations } from '../reservation-row.ts';
import { reservedBy } from '../reserved-money.ts';
import { checkFree } from '../take-over.ts';
import { SharedAttempts } from './attempts.ts';
import { countMissing, type DoubtfulAttempt, enterAttempts } from './move-attempts.ts';
import { openShared } from './open.ts';
import { ownDamagedAdvice, ownFailure } from './own-journal.ts';

/** Code of a record that was moved to a shared database. */
export const movedCode = 'moved';

/** Result of moving the open records of a local journal. */
export interface Moved {
  /** Records that are now in the database, as they were in the local journal. */
  readonly records: readonly JournalRecord[];
  /** Number of policy reservations that were moved too. */
  readonly reservations: number;
  /** Number of attempts, open or not, that the database did not have. */
  readonly attempts: number;
  /** Records that stay in the local journal, each with the reason. */
  readonly left: readonly { readonly record: JournalRecord; readonly why: string }[];
}

export interface MoveOptions extends OpenOptions {
  readonly now: () => number;
  readonly origin: () => AuditOrigin;
  /** Signs the records of an account; undefined if the account's key is not on this machine. */
  readonly macFor: (account: string, baseUrl: string) => Mac | undefined;
  /** Whether to only report what would be moved (a dry run). */
  readonly isPreview: boolean;
}

/** The tables of one journal, local or shared. */
interface Side {
  readonly database: Database;
  readonly table: IntentTable;
  readonly reservations: ReservationTable;
  readonly audit: AuditChain;
  readonly attempts: AttemptTable;
}

interface Judged {
  readonly row: IntentRow;
  /** Why the record stays in the local journal; undefined if it can be moved. */
  readonly why: string | undefined;
}

/**
 * Moves the local journal's in-doubt and unreported records to a shared database, with their reservations, approvals,
 * quotes and grants, in one transaction. Then closes the local records. Copies all attempts, so that the database knows
 * what was ordered before. If the move is interrupted, running it again completes it.
 * @throws ErrandError conflict if a live process owns one of the records; StorageError.
 */
export async function moveJournal(folder: string, sharing: Sharing, options: MoveOptions): Promise<Moved> {
  const { now, origin, macFor, isPreview, ...opening } = options;
  const side = (database: Database): Side => {
    const table = new IntentTable(database);
    return {
      ...{ database, table, reservations: new ReservationTable(database, table.tally) },
      ...{ audit: new AuditChain(database, now, origin), attempts: new AttemptTable(database) },
    };
  };
  const file = journalFile(folder);
  const ownOpening = { ...opening, damagedAdvice: ownDamagedAdvice };
  const own = side(await openStateDatabase(file, journalMigrations, ownOpening));
  try {
    checkWhole(own.table, file);
    const copy = journalFile(copyFolder(folder, sharing.address));
    const advised = { ...opening, damagedAdvice };
    const database = await openShared(copy, journalMigrations, 'journal', sharing, advised);
    const shared = side(database);
    const store = new SharedAttempts(sharing.address, database, options.waiting?.signal);
    try {
      if (isPreview) {
        const found = judged(own.table.unfinished(), own, shared);
        return summed(own, found, await countMissing(store, own));
      }
      const rows = await own.database.transaction(() => taken(own.table));
      await store.bringIn(() => earlierAttempts(shared.table.all()));
      // Store the attempts first. Otherwise, another machine might order the same again once the local records are
      // closed.
      const { added, doubtful } = await enterAttempts(store, own);
      const results = await shared.database.transaction(() => {
        const found = judged(rows, own, shared);
        for (const { row } of movable(found)) {
          const mac = macFor(String(row.account), String(row.base_url));
          enter(row, own, shared, { mac, shown: sharing.address.shown });
        }
        return found;
      });
      await store.change(nowInDoubt(doubtful, results));
      const moved = summed(own, results, added);
      await own.database.transaction(() => {
        for (const { row } of movable(results)) leave(row, own, sharing.address.shown, now());
      });
      return moved;
    } finally {
      store.close();
      await database.close();
    }
  } finally {
    await own.database.close();
  }
}

function checkWhole({ tally }: IntentTable, file: string): void {
  try {
    tally.check(readRecordCount(recordCountFileOf(file)));
  } catch (error) {
    throw ownFailure(error);
  }
}

const movable = (found: readonly Judged[]): readonly Judged[] => found.filter(({ why }) => why === undefined);

/** Marks attempts whose intents are now in the database as in doubt again. */
function nowInDoubt(doubtful: readonly DoubtfulAttempt[], results: readonly Judged[]): AttemptChange[] {
  const moved = new Set(movable(results).map(({ row }) => JSON.stringify([row.base_url, row.key])));
  return doubtful
    .filter(({ service, intent }) => moved.has(JSON.stringify([service, intent])))
    .map(({ serial }) => ({ serial, state: 'intended' }));
}

/**
 * Takes ownership of the open records, so that no other process of this machine works on them. Call within a
 * transaction. @throws ErrandError conflict.
 */
function taken(table: IntentTable): IntentRow[] {
  const rows = table.unfinished();
  for (const row of rows) if (isIntact(row)) checkFree(recordOf(row));
  return rows.map((row) => {
    if (!isIntact(row)) return row;
    const { pid, started } = self();
    const own = withChecksum({ ...row, pid, process_started: started });
    table.write(own, row);
    return own;
  });
}

function judged(rows: readonly IntentRow[], own: Side, shared: Side): Judged[] {
  return rows.map((row) => ({ row, why: reasonToStay(row, own, shared) }));
}

function reasonToStay(row: IntentRow, own: Side, { table }: Side): string | undefined {
  if (!isIntact(row)) return 'it is damaged: look for its order, then forget it';
  // Moving a record adds an entry to the shared audit chain, and that entry permits sending the record. Therefore the
  // local chain must prove the record.
  if (row.order_id === null && policyOf(row, own) === undefined)
    return 'the audit chain here does not have it as it stands: look for its order, then forget it';
  const owner = ownerOf(row);
  if (!isSelf(owner) && isAlive(owner)) return `process ${owner.pid} is at work on it`;
  const there = table.find(String(row.key), String(row.base_url));
  if (!there) return undefined;
  if (!isIntact(there)) return 'its record in the database is damaged';
  const isSame = (['operation', 'account', 'body_hash'] as const).every((name) => there[name] === row[name]);
  if (!isSame) return 'the database has another order under this key';
  const isTwo = row.order_id !== null && there.order_id !== null && row.order_id !== there.order_id;
  return isTwo ? `the database has ${String(there.order_id)} under this key` : undefined;
}

/**
 * Writes a record to the shared database. Does not overwrite anything that an interrupted move has left there. Call
 * within a transaction of the shared database.
 */
function enter(row: IntentRow, own: Side, shared: Side, arrival: Omit<Arrival, 'policy' | 'reserved'>): void {
  const [key, baseUrl] = [String(row.key), String(row.base_url)];
  const there = shared.table.find(key, baseUrl);
  const isNewer = !there || knowsMore(row, there);
  if (isNewer && (!there || hasEnded(there))) {
    const { pid, started } = nobodyAtWork;
    shared.table.write(withChecksum({ ...row, pid, process_started: started }), there);
    const reserved = reservedBy(reservationsOf(row, own));
    noteArrival(row, shared, { ...arrival, policy: policyOf(row, own) ?? null, reserved });
  } else if (isNewer && there) {
    const { state, order_id, settled_at, live } = row;
    const known = { state, order_id, settled_at, live, code: null, message: null, credential: null };
    shared.table.write(withChecksum({ ...there, ...known }), there);
    shared.audit.appendSigned(stepEntry('responded', row, String(order_id)), signerFor(row, arrival));
  }
  for (const reservation of reservationsOf(row, own)) bringReservation(reservation, own, shared, isNewer);
  for (const quote of own.database.all('SELECT * FROM quotes WHERE key = ?', key))
    insert(shared.database, 'quotes', ['id', 'key', 'until', 'used', 'made', 'quote', 'checksum'], quote);
  const grants = 'SELECT * FROM grants WHERE order_id = ? AND base_url = ?';
  for (const grant of own.database.all(grants, row.order_id, baseUrl))
    insert(shared.database, 'grants', ['order_id', 'base_url', 'api_key', 'receipt', 'created_at'], grant);
}

const hasEnded = ({ state }: IntentRow): boolean => state === 'refused' || state === 'forgotten';

/**
 * Whether a local record knows more than the database's record. It does if it has an order, or if it is a separate
 * attempt that may have placed an order.
 */
function knowsMore(row: IntentRow, there: IntentRow): boolean {
  if (there.order_id !== null) return false;
  // If the creation times are equal, an earlier move brought this attempt to the database, and the database knows how
  // the attempt ended.
  return row.order_id !== null || (hasEnded(there) && there.created_at !== row.created_at);
}

/**
 * Policy that applied to a record in the local journal; null if none did, undefined if the audit chain does not prove
 * the record.
 */
function policyOf(row: IntentRow, { audit }: Side): string | null | undefined {
  const proof = entryOf(audit, recordOf(row));
  return typeof proof === 'string' ? undefined : (proof.policy ?? null);
}

/** What is stored in the shared database together with a record. */
interface Arrival {
  /** Policy that applied to the record in the local journal. */
  readonly policy: string | null;
  readonly reserved: ReservedByIntent | undefined;
  /**
   * Signs the audit entry of the record. If the entry is unsigned, other machines may look up the record's result but
   * never resend the record.
   */
  readonly mac: Mac | undefined;
  /** Displayable address of the database. */
  readonly shown: string;
}

/**
 * Appends the moved record to the shared audit chain. The entry is marked as a repeat, so that the move alone proves
 * nothing about the record.
 */
function noteArrival(
  row: IntentRow,
  { database, table, audit }: Side,
  { policy, reserved, mac, shown }: Arrival,
): void {
  const { sent_with: keyMasked, base_url: baseUrl, key_origin: keyOrigin, ...record } = recordOf(row);
  const intent = { ...record, keyMasked, baseUrl, keyOrigin, payment: undefined };
  const salt = addressSalt(database, table.tally);
  const content = contentHash(intent.operation, intent.body);
  const terms = { again: true, salt, policy, reserved, signsEnds: mac !== undefined };
  audit.append(intentEntry(intent, content, table.tally.next(), terms), mac);
  audit.append(movedEntry(row, 'in', shown));
  if (row.order_id !== null)
    audit.appendSigned(stepEntry('responded', row, String(row.order_id)), signerFor(row, { mac }));
}

const signerFor = ({ account }: IntentRow, { mac }: Pick<Arrival, 'mac'>): Signer | undefined =>
  mac && { account: String(account), mac };

/** @param isNewer tells whether money that the shared database has released may be spent after all. */
function bringReservation(reservation: Reservation, own: Side, shared: Side, isNewer: boolean): void {
  const there = reservationIn(shared, reservation);
  if (there?.state === 'held') {
    const intents = [...new Set([...there.intents, ...reservation.intents])];
    const orderId = there.orderId ?? reservation.orderId;
    shared.reservations.write([{ ...there, intents, orderId }]);
  }
  if (there && (there.state !== 'released' || !isNewer)) return;
  shared.reservations.write([{ ...reservation, ...nobodyAtWork }]);
  if (reservation.approval === undefined) return;
  const known = 'SELECT 1 AS found FROM approvals WHERE id = ?';
  if (shared.database.get(known, reservation.approval)) return;
  const row = own.database.get('SELECT * FROM approvals WHERE id = ?', reservation.approval);
  const approval = row && approvalOf(row);
  if (approval) shared.database.run(writeApproval, ...approvalRow(approval));
}

/** This machine's reservations that cover a record. */
function reservationsOf({ key, base_url, account }: IntentRow, { database }: Side): Reservation[] {
  const sql = `${storedReservations} WHERE base_url = ? AND account = ? AND state <> 'released'`;
  return database.all(sql, base_url, account).flatMap((stored) => {
    const reservation = reservationOf(stored);
    return reservation?.intents.includes(String(key)) ? [reservation] : [];
  });
}

function reservationIn({ database }: Side, { key, baseUrl, account }: Reservation): Reservation | undefined {
  const sql = `${storedReservations} WHERE key = ? AND base_url = ? AND account = ?`;
  const row = database.get(sql, key, baseUrl, account);
  return row && reservationOf(row);
}

function insert(
  database: Database,
  table: 'quotes' | 'grants',
  columns: readonly string[],
  row: Readonly<Record<string, unknown>>,
): void {
  const values = columns.map((name) => {
    const value = row[name];
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  });
  const marks = columns.map(() => '?').join(', ');
  database.run(`INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, ...values);
}

/**
 * Closes a local record, because the shared database is now responsible for it. In the local journal, the record's
 * reserved money counts as spent. Call within a transaction of the local journal.
 */
function leave(row: IntentRow, { table, audit, attempts }: Side, shown: string, now: number): void {
  const there = table.find(String(row.key), String(row.base_url));
  if (!there || !isIntact(there) || there.live !== 2) return;
  audit.append(movedEntry(there, 'out', shown));
  table.write(
    withChecksum({
      ...there,
      ...{ state: 'forgotten' satisfies IntentState, live: 0, credential: null },
      ...{ code: movedCode, message: `moved to the database ${shown}` },
      settled_at: new Date(now).toISOString(),
    }),
    there,
  );
  if (there.order_id === null)
    attempts.follow(String(there.base_url), String(there.key), { state: 'unknown' });
}

function summed(own: Side, found: readonly Judged[], attempts: number): Moved {
  const going = movable(found).map(({ row }) => row);
  const held = new Set(
    going.flatMap((row) =>
      reservationsOf(row, own).map(({ key, baseUrl }) => JSON.stringify([key, baseUrl])),
    ),
  );
  return {
    records: going.map(recordOf),
    reservations: held.size,
    attempts,
    left: found.flatMap(({ row, why }) => (why === undefined ? [] : [{ record: recordOf(row), why }])),
  };
}
