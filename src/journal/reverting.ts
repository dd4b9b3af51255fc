import type { Database } from '../platform/sqlite/database.ts';
import type { Attempts } from './attempts.ts';
import type { AuditChain } from './audit.ts';
import { failureEntry } from './audit.ts';
import { storable } from './integrity.ts';
import { type IntentRow, isIntact, recordOf, withChecksum } from './intent-row.ts';
import type { IntentTable } from './intents.ts';
import { type IntentState, type Signer, wasSentWithTestKey } from './journal-record.ts';
import { type Reservation, ReservationTable, reservationOf, storedReservations } from './reservation-row.ts';
import type { Signers } from './signers.ts';
import { isOthers } from './take-over.ts';

/** Code of a record whose sandbox was rolled back to a time before the record. */
export const revertedCode = 'undone';

/** Which part of a sandbox's history was rolled back. */
export interface Reverted {
  /** Base URL of the sandbox. */
  readonly service: string;
  /** Only records after this time are reverted, in ms since the epoch. If undefined, there is no lower limit. */
  readonly since: number | undefined;
  /** Records after this time stay unchanged, in ms since the epoch. */
  readonly until: number;
  /** Message stored in each record. */
  readonly message: string;
}

/** Closes the records of what a sandbox no longer has, because the sandbox was reset or rolled back. */
export class Reverting {
  readonly #database: Database;
  readonly #table: IntentTable;
  readonly #audit: AuditChain;
  readonly #now: () => number;
  readonly #attempts: Pick<Attempts, 'undo'>;
  readonly #signers: Signers;

  constructor(parts: {
    readonly database: Database;
    readonly table: IntentTable;
    readonly audit: AuditChain;
    readonly attempts: Pick<Attempts, 'undo'>;
    readonly signers: Signers;
    readonly now: () => number;
  }) {
    this.#database = parts.database;
    this.#table = parts.table;
    this.#audit = parts.audit;
    this.#now = parts.now;
    this.#attempts = parts.attempts;
    this.#signers = parts.signers;
  }

  /**
   * Marks these intents as refused with code `undone` and releases their reservations, because the sandbox no longer
   * has them. Leaves out records that another process owns. Also leaves out anything that may have moved real money,
   * because it was sent with a live key or paid outside the sandbox.
   * @returns how many of the reverted intents were in doubt.
   * @throws StorageError.
   */
  async undo({ service, since = Number.NEGATIVE_INFINITY, until, message }: Reverted): Promise<number> {
    const signers = new Map<string, Signer | undefined>();
    for (const account of new Set(this.#table.all().map((row) => String(row.account))))
      signers.set(account, await this.#signers.of(account));
    const { keys, inDoubt } = await this.#database.transaction(() => {
      const rows = this.#table.all().filter((row) => row.base_url === service && mayBeReverted(row, service));
      const gone = rows.filter(({ created_at: at }) => {
        const recorded = Date.parse(String(at));
        return recorded > since && recorded <= until;
      });
      for (const row of gone) this.#end(row, message, signers.get(String(row.account)));
      if (gone.length > 0) this.#giveBack(new Set(gone.map(({ key }) => String(key))), service);
      return {
        keys: gone.map(({ key }) => String(key)),
        inDoubt: gone.filter(({ state }) => state === ('intended' satisfies IntentState)).length,
      };
    });
    if (keys.length > 0) await this.#attempts.undo(service, keys);
    return inDoubt;
  }

  #end(row: IntentRow, message: string, signer: Signer | undefined): void {
    this.#audit.appendSigned(failureEntry('refused', row, revertedCode), signer);
    const ended = { state: 'refused' satisfies IntentState, code: revertedCode, message: storable(message) };
    const settledAt = new Date(this.#now()).toISOString();
    const after = { ...row, ...ended, order_id: null, credential: null, live: 0, settled_at: settledAt };
    this.#table.write(withChecksum(after), row);
  }

  /** Releases reservations. One stays held while another of its intents may still place the order. */
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

/** Base URL used only by the embedded sandbox. */
const embeddedService = 'embedded:';

const endable: readonly IntentState[] = ['intended', 'responded', 'reported'];

function mayBeReverted(row: IntentRow, service: string): boolean {
  if (!isIntact(row) || !endable.some((state) => state === row.state)) return false;
  const record = recordOf(row);
  const isAtWork = (record.state === 'intended' || record.state === 'responded') && isOthers(record);
  if (isAtWork) return false;
  if (service === embeddedService) return true;
  // Another service may once have had this local address.
  if (record.payment !== null) return record.payment.method === 'sandbox';
  return wasSentWithTestKey(record);
}
