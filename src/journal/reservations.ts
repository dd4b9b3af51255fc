import type { DamagedError } from '../platform/errors.ts';
import { withoutPrivate } from '../platform/redact/redactor.ts';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import type { Approvals } from './approvals.ts';
import type { AuditChain } from './audit.ts';
import type { IntentRow } from './intent-row.ts';
import type { IntentTable } from './intents.ts';
import { isAlive, isSelf, self } from './owner.ts';
import { PublishedPolicies } from './published-policy.ts';
import {
  type Admission,
  adds,
  claimed,
  type OrderToReserve,
  type Reservation,
  ReservationTable,
  reservationOf,
  storedReservations,
  unknownIntent,
  usesApproval,
  withOrder,
} from './reservation-row.ts';

/** How long a reservation is kept, ms: every month of a year, and the one before it. */
const keptMs = 400 * 24 * 3600 * 1000;
/** Intents of this age may have been deleted from the journal, so that a missing one proves nothing, ms. */
const provenMs = 29 * 24 * 3600 * 1000;

/** What is to be reserved, and who decides on it. */
export interface Reserving {
  readonly orders: readonly OrderToReserve[];
  /** The policy that decides, by the SHA-256 of its file, and the profile that follows it. */
  readonly policy?: { readonly hash: string; readonly profile: string };
  /** Since when reservations matter to the decision, ms since the epoch. */
  readonly since: number;
  /**
   * Decides within the transaction, from what other processes have reserved by then. It is synchronous and short.
   * @param fresh those of the orders for which nothing is reserved yet. @throws what refuses them; then nothing is written.
   */
  admit(fresh: readonly OrderToReserve[], standing: readonly Reservation[]): Admission;
}

/** What was read of a reserved order at the service. */
export interface Reading {
  readonly reservation: Reservation;
  /** What it cost, cents; undefined where that is still open. */
  readonly costCents?: number;
  /** Surely nothing came of it. */
  readonly isVoid?: boolean;
  /** An intent that surely did not order it. */
  readonly without?: string;
  readonly orderId?: string | undefined;
}

/** Money that may be spent by orders, one reservation for each key at a service and account, in the journal's database. */
export class Reservations {
  /** What decides on machines that share the journal. */
  readonly policies: PublishedPolicies;
  readonly #database: Database;
  readonly #table: IntentTable;
  readonly #rows: ReservationTable;
  readonly #audit: AuditChain;
  readonly #now: () => number;
  readonly #returned = new Map<string, { readonly orders: number; readonly cents: number }>();

  constructor(database: Database, table: IntentTable, audit: AuditChain, now: () => number) {
    this.#database = database;
    this.#table = table;
    this.#rows = new ReservationTable(database, table.tally);
    this.#audit = audit;
    this.#now = now;
    this.policies = new PublishedPolicies(database, table.tally, audit, now);
  }

  /** What a person is asked about; loaded where a policy wants it. */
  async approvals(): Promise<Approvals> {
    const { Approvals } = await import('./approvals.ts');
    return new Approvals(this.#database, this.#audit, this.#table.tally, this.#now);
  }

  /** Reserves for orders that are about to be recorded, all of them or none. @throws what refuses them; StorageError. */
  reserve(reserving: Reserving): Promise<string | undefined> {
    return this.#database.transaction(() => this.claim(reserving, false));
  }

  /**
   * The same within a transaction of the journal. What stands already for a key is not reserved twice.
   * @param isForced reserves without a decision: what may have been sent before cannot be refused any more.
   * @returns since when the key of a single order may have been used, ISO 8601: on this machine, or on another one that its
   * approval was carried to.
   */
  claim({ orders, policy, since, admit }: Reserving, isForced: boolean): string | undefined {
    const now = this.#now();
    if (policy) this.#audit.followPolicy(policy.hash, policy.profile);
    const found = orders.map((order) => ({ order, before: this.#find(order) }));
    const fresh = found.filter(({ order, before }) => adds(order, before)).map(({ order }) => order);
    let admission: Admission = {};
    if (fresh.length > 0 && !isForced) {
      const keys = new Set(fresh.map(idOf));
      const standing = this.since(since).filter((other) => !keys.has(idOf(other)));
      const { override, ...rest } = admit(fresh, standing);
      admission = { ...rest, override: override && withoutPrivate(override) };
    }
    this.#noteAdmission(fresh, admission);
    this.#rows.write(
      found.flatMap(({ order, before }) =>
        before?.state === 'settled'
          ? []
          : [claimed(order, before, { ...admission, now, owner: self(this.#database.lease) })],
      ),
    );
    if (fresh.length > 0) this.#rows.sweep(now - keptMs);
    const single = found.find(({ order }) => order.key === order.intent);
    return single && this.#keySince(single.before, admission.approval);
  }

  /** Undefined where nothing but this attempt has the key. */
  #keySince(before: Reservation | undefined, used: string | undefined): string | undefined {
    const approval = used ?? before?.approval;
    const sql = 'SELECT asked_at FROM approvals WHERE id = ?';
    const asked = approval === undefined ? undefined : this.#database.get(sql, approval)?.asked_at;
    const reserved = before && usesApproval(before) ? before.at : undefined;
    const times = [reserved, asked === undefined ? undefined : Date.parse(String(asked))];
    const first = Math.min(...times.filter((time) => time !== undefined));
    return Number.isFinite(first) ? new Date(first).toISOString() : undefined;
  }

  /** Everything that counts or counted since a time. @throws DamagedError where one is not what was written. */
  since(since: number): Reservation[] {
    this.#rows.check();
    const rows = this.#database.all(`${storedReservations} WHERE at >= ? ORDER BY at, key`, since);
    return rows.map((row) => this.#intact(row));
  }

  /** What is or was reserved for an order, by its id or its idempotency key at a service. @throws DamagedError. */
  about(baseUrl: string, orderId: string | undefined, key: string | undefined): Reservation | undefined {
    const sql = `${storedReservations} WHERE base_url = ? AND (order_id = ? OR key = ?) ORDER BY order_id IS NULL`;
    const row = this.#database.get(sql, baseUrl, orderId ?? null, key ?? null);
    return row && this.#intact(row);
  }

  /** Whether the ceiling of each of these is reserved. After a repair that may be as the whole of their intent. @throws DamagedError. */
  cover(orders: readonly OrderToCover[]): boolean {
    return orders.every(({ intent, ...order }) => {
      const reservation = this.#find(order) ?? this.#find({ ...order, key: intent });
      const ceiling = order.cents - order.feeCents;
      return (
        reservation !== undefined &&
        usesApproval(reservation) &&
        reservation.cents - reservation.feeCents >= ceiling
      );
    });
  }

  /** An intent has led to an order. Within a transaction of the journal. */
  made(intent: IntentRow, orderId: string): void {
    const reservation = this.#find(orderOf(intent));
    if (reservation) this.#write(withOrder(reservation, String(intent.key), orderId));
  }

  /** An intent surely ordered nothing. Within a transaction of the journal. */
  giveBack(intent: IntentRow): void {
    const { key, baseUrl, account } = orderOf(intent);
    // What another attempt has ordered with the key is spent.
    for (const reservation of this.#held(baseUrl, account))
      if (reservation.intents.includes(key) && reservation.orderId === undefined)
        this.#drop(reservation, key);
    this.#noteReturned(baseUrl);
  }

  /** Gives back what was reserved for intents that were never recorded, so never sent. @throws StorageError. */
  giveBackUnsent(intents: readonly string[], baseUrl: string, account: string): Promise<void> {
    return this.#database.transaction(() => {
      const unsent = new Set(intents.filter((intent) => !this.#table.find(intent, baseUrl)));
      if (unsent.size === 0) return;
      for (const { key } of this.#held(baseUrl, account)) this.#dropAll({ key, baseUrl, account }, unsent);
      this.#noteReturned(baseUrl);
    });
  }

  /** The same of processes that ended before they could. @throws StorageError. */
  giveBackAbandoned(): Promise<number> {
    const since = this.#now() - provenMs;
    return this.#database.transaction(() => {
      const abandoned = this.since(since).filter(
        (reservation) => reservation.state === 'held' && !isSelf(reservation) && !isAlive(reservation),
      );
      let count = 0;
      for (const reservation of abandoned) {
        const unsent = reservation.intents.filter(
          (intent) => intent !== unknownIntent && !this.#table.find(intent, reservation.baseUrl),
        );
        count += unsent.length;
        this.#dropAll(reservation, new Set(unsent));
        this.#noteReturned(reservation.baseUrl);
      }
      return count;
    });
  }

  /** Writes down what was read at the service. @returns how many reservations are other than before. @throws StorageError. */
  settle(readings: readonly Reading[]): Promise<number> {
    return this.#database.transaction(() => {
      let count = 0;
      for (const { reservation, costCents, isVoid = false, without, orderId } of readings) {
        const now = this.#find(reservation);
        // What another process has made of it since is newer than what was read.
        if (!now || now.state !== reservation.state || now.intents.length !== reservation.intents.length)
          continue;
        const known = orderId === undefined ? now : { ...now, orderId };
        if (isVoid) this.#write({ ...known, state: 'released', counted: 0 });
        else if (costCents !== undefined) this.#write({ ...known, state: 'settled', counted: costCents });
        else if (without !== undefined) {
          this.#drop(known, without);
          this.#noteReturned(known.baseUrl);
        } else if (orderId !== undefined && orderId !== now.orderId) this.#write(known);
        else continue;
        count += 1;
      }
      return count;
    });
  }

  #noteAdmission(orders: readonly OrderToReserve[], { override: reason, approval }: Admission): void {
    const [first] = orders;
    const cents = orders.reduce((sum, order) => sum + order.cents, 0);
    const subject = { service: first?.baseUrl, key: first?.intent, cents };
    if (reason !== undefined)
      this.#audit.append({ kind: 'override', ...subject, detail: { reason, orders: orders.length } });
    if (approval !== undefined)
      this.#audit.append({ kind: 'approval_used', ...subject, detail: { approval, orders: orders.length } });
  }

  /** Approvals that were given back since this was last said. Within the same transaction. */
  #noteReturned(service: string): void {
    for (const [approval, { orders, cents }] of this.#returned)
      this.#audit.append({ kind: 'approval_returned', service, cents, detail: { approval, orders } });
    this.#returned.clear();
  }

  #held(baseUrl: string, account: string): Reservation[] {
    const sql = `${storedReservations} WHERE state = 'held' AND base_url = ? AND account = ?`;
    return this.#database.all(sql, baseUrl, account).map((row) => this.#intact(row));
  }

  #dropAll(order: OrderId, intents: ReadonlySet<string>): void {
    for (const intent of intents) {
      const reservation = this.#find(order);
      if (reservation?.state === 'held' && reservation.intents.includes(intent))
        this.#drop(reservation, intent);
    }
  }

  #drop(reservation: Reservation, intent: string): void {
    const intents = reservation.intents.filter((other) => other !== intent);
    const isVoid = intents.length === 0;
    const { approval, cents, orderId } = reservation;
    if (isVoid && approval !== undefined && !usesApproval({ state: 'released', orderId })) {
      const sum = this.#returned.get(approval) ?? { orders: 0, cents: 0 };
      this.#returned.set(approval, { orders: sum.orders + 1, cents: sum.cents + cents });
    }
    this.#write({ ...reservation, intents, ...(isVoid && { state: 'released', counted: 0 }) });
  }

  #find({ key, baseUrl, account }: OrderId): Reservation | undefined {
    const sql = `${storedReservations} WHERE key = ? AND base_url = ? AND account = ?`;
    const row = this.#database.get(sql, key, baseUrl, account);
    return row && this.#intact(row);
  }

  #write(reservation: Reservation): void {
    this.#rows.write([reservation]);
  }

  #intact(row: StoredRow): Reservation {
    const reservation = reservationOf(row);
    if (reservation) return reservation;
    throw this.#damaged(`the reservation of ${String(row.key)} was changed`);
  }

  #damaged(what: string): DamagedError {
    return this.#table.tally.damaged(what);
  }
}

type OrderToCover = OrderId & Pick<OrderToReserve, 'intent' | 'cents' | 'feeCents'>;
type OrderId = Pick<OrderToReserve, 'key' | 'baseUrl' | 'account'>;

const orderOf = ({ key, base_url: baseUrl, account }: IntentRow): OrderId => ({
  key: String(key),
  baseUrl: String(baseUrl),
  account: String(account),
});

const idOf = ({ key, baseUrl, account }: OrderId): string => JSON.stringify([key, baseUrl, account]);
