import type { Database } from '../platform/sqlite/database.ts';
import { AttemptTable } from './attempt-table.ts';
import type { AuditChain } from './audit.ts';
import { failureEntry } from './audit-steps.ts';
import { storable } from './hidden-text.ts';
import { type IntentRow, isIntact, recordOf, sealed } from './intent-row.ts';
import type { IntentTable } from './intent-table.ts';
import type { IntentState } from './journal-record.ts';
import { type Reservation, reservationOf, storedReservations } from './reservation-row.ts';
import { ReservationTable } from './reservation-table.ts';
import { isOthers } from './take-over.ts';

/** The code of a record whose sandbox was brought back to a state before it. */
export const undoneCode = 'undone';

/** What of a sandbox has gone back to an earlier state. */
export interface Undone {
  /** Its base URL. */
  readonly service: string;
  /** Only what was recorded after this time is gone, ms since the epoch; without it all is. */
  readonly since: number | undefined;
  /** Nothing that was recorded after this time is gone, ms since the epoch. */
  readonly until: number;
  /** What is said of each record. */
  readonly message: string;
}

/** Ends what a sandbox no longer has, since it was emptied or brought back to an earlier state. */
export class Undoing {
  readonly #database: Database;
  readonly #table: IntentTable;
  readonly #audit: AuditChain;
  readonly #now: () => number;
  readonly #attempts: AttemptTable;

  constructor(database: Database, table: IntentTable, audit: AuditChain, now: () => number) {
    this.#database = database;
    this.#table = table;
    this.#audit = audit;
    this.#now = now;
    this.#attempts = new AttemptTable(database);
  }

  /**
   * The sandbox surely has nothing any more of these intents: each is refused with `undone`, and the money that was
   * reserved for it given back. What may have moved money stays: an intent sent with a live key, or paid for outside of
   * the sandbox; and so does what another process is at work on. @returns how many of them were in doubt. @throws StorageError.
   */
  undo({ service, since = Number.NEGATIVE_INFINITY, until, message }: Undone): Promise<number> {
    return this.#database.transaction(() => {
      const rows = this.#table.all().filter((row) => row.base_url === service && mayBeUndone(row, service));
      const gone = rows.filter(({ created_at: at }) => {
        const recorded = Date.parse(String(at));
        return recorded > since && recorded <= until;
      });
      for (const row of gone) this.#end(row, message);
      if (gone.length > 0) this.#giveBack(new Set(gone.map(({ key }) => String(key))), service);
      return gone.filter(({ state }) => state === ('intended' satisfies IntentState)).length;
    });
  }

  #end(row: IntentRow, message: string): void {
    this.#audit.append(failureEntry('refused', row, undoneCode));
    const ended = { state: 'refused' satisfies IntentState, code: undoneCode, message: storable(message) };
    const settledAt = new Date(this.#now()).toISOString();
    const after = { ...row, ...ended, order_id: null, credential: null, live: 0, settled_at: settledAt };
    this.#table.write(sealed(after), row);
    this.#attempts.follow(String(row.base_url), String(row.key), { state: 'unsent' });
  }

  /** What a reservation's other intents may still order stays reserved. */
  #giveBack(keys: ReadonlySet<string>, service: string): void {
    const rows = new ReservationTable(this.#database, this.#table.tally);
    const sql = `${storedReservations} WHERE base_url = ? AND state <> 'released'`;
    const returned = new Map<string, { readonly orders: number; readonly cents: number }>();
    const changed = this.#database.all(sql, service).flatMap((row): Reservation[] => {
      const reservation = reservationOf(row);
      if (!reservation?.intents.some((key) => keys.has(key))) return [];
      const intents = reservation.intents.filter((key) => !keys.has(key));
      if (intents.length > 0) return [{ ...reservation, intents }];
      const { approval, cents } = reservation;
      if (approval !== undefined) {
        const sum = returned.get(approval) ?? { orders: 0, cents: 0 };
        returned.set(approval, { orders: sum.orders + 1, cents: sum.cents + cents });
      }
      return [{ ...reservation, intents, state: 'released', counted: 0, orderId: undefined }];
    });
    rows.write(changed);
    for (const [approval, { orders, cents }] of returned)
      this.#audit.append({ kind: 'approval_returned', service, cents, detail: { approval, orders } });
  }
}

/** No other service is at this base URL. */
const embeddedService = 'embedded:';

const endable: readonly IntentState[] = ['intended', 'responded', 'reported'];

function mayBeUndone(row: IntentRow, service: string): boolean {
  if (!isIntact(row) || !endable.some((state) => state === row.state)) return false;
  const record = recordOf(row);
  const isAtWork = (record.state === 'intended' || record.state === 'responded') && isOthers(record);
  if (isAtWork) return false;
  if (service === embeddedService) return true;
  // An address of this machine may have led to another service once.
  if (record.payment !== null) return record.payment.method === 'sandbox';
  return /^[A-Za-z0-9]+_test_/.test(record.sent_with);
}
