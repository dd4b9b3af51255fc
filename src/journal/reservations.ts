import { type DamagedError, StorageError } from '../platform/errors.ts';
import { withoutPrivate } from '../platform/redact/redactor.ts';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import type { Approvals } from './approvals.ts';
import type { AuditChain } from './audit.ts';
import type { ReservedByIntent } from './audit-entry.ts';
import type { IntentRow } from './intent-row.ts';
import type { IntentTable } from './intents.ts';
import type { Signer } from './journal-record.ts';
import { type LimitUsage, ListedUsage, SummedUsage } from './limit-usage.ts';
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
import { correctedReservations, orderHash, reservedBy, reservingKinds } from './reserved-money.ts';
import type { Signers } from './signers.ts';
import type { OrderId, SummedLimit } from './summed-limit.ts';
import { VerifiedChain } from './verified-chain.ts';

/** How a journal verifies and signs. */
interface Signing {
  /** Whether others can write to the journal. If they can, the audit chain decides what is reserved. */
  readonly isShared: boolean;
  readonly signers: Signers;
}

/** How long reservations are stored, in ms. Covers every month of a year, and one more month. */
const retentionMs = 400 * 24 * 3600 * 1000;
/**
 * How far back reservations are compared with the audit chain, in ms. Shorter than reservations are stored, so that
 * none of those compared is missing.
 */
const comparedMs = 390 * 24 * 3600 * 1000;
/**
 * Age, in ms, beyond which intents may have been purged from the journal. A missing intent of that age proves nothing.
 */
const provenMs = 29 * 24 * 3600 * 1000;

/**
 * Maximum number of changes that a decision verifies in its own transaction. If there are more, an earlier transaction
 * verifies them.
 */
const maxPending = 32;
/** Name of the verification mark in a journal that is not shared. */
const ownMark = '';

/** What to reserve, and who decides. */
export interface Reserving {
  readonly orders: readonly OrderToReserve[];
  /** The policy that decides, as the SHA-256 of its file, and the profile to which the policy applies. */
  readonly policy?: { readonly hash: string; readonly profile: string };
  /** Start of the period that matters for the decision, in ms since the epoch. */
  readonly since: number;
  /** Limits whose sums the decision needs. */
  readonly limits?: readonly SummedLimit[];
  /** Verifies what was reserved before. */
  readonly signers?: readonly Signer[];
  /**
   * Decides within the transaction, based on what other processes have reserved until then. Must be synchronous and
   * short.
   * @param fresh lists the orders for which money is not reserved yet.
   * @throws the denial; nothing is written then.
   */
  admit(fresh: readonly OrderToReserve[], usage: LimitUsage): Admission;
}

/** What the service reports about a reserved order. */
export interface Reading {
  readonly reservation: Reservation;
  /** Actual cost in cents; undefined as long as the order is open. */
  readonly costCents?: number;
  /** True if the order definitely had no effect. */
  readonly isVoid?: boolean;
  /** An intent that definitely did not place the order. */
  readonly without?: string;
  readonly orderId?: string | undefined;
}

/**
 * Money reserved for orders: one reservation for each combination of key, service and account. Stored in the journal's
 * database.
 */
export class Reservations {
  /** The policies in force on machines that share the journal. */
  readonly policies: PublishedPolicies;
  readonly #database: Database;
  readonly #table: IntentTable;
  readonly #rows: ReservationTable;
  readonly #audit: AuditChain;
  readonly #now: () => number;
  readonly #signing: Signing;
  readonly #returned = new Map<string, { readonly orders: number; readonly cents: number }>();

  constructor(
    database: Database,
    table: IntentTable,
    audit: AuditChain,
    now: () => number,
    signing: Signing,
  ) {
    this.#database = database;
    this.#table = table;
    this.#rows = new ReservationTable(database, table.tally);
    this.#audit = audit;
    this.#now = now;
    this.#signing = signing;
    this.policies = new PublishedPolicies(database, audit);
  }

  /** The store of approvals. It is imported when it is first used, because only some policies need approvals. */
  async approvals(): Promise<Approvals> {
    const { Approvals } = await import('./approvals.ts');
    return new Approvals(this.#database, this.#audit, this.#table.tally, this.#now);
  }

  /** Reserves money for orders about to be recorded: for all of them or for none. @throws the denial; StorageError. */
  async reserve(reserving: Reserving): Promise<Claimed> {
    await this.prepare(reserving);
    return this.#database.transaction(() => this.claim(reserving, false));
  }

  /**
   * Same as `reserve`, but runs within a transaction of the journal. Money that is already reserved for a key is not
   * reserved twice.
   * @param isForced tells whether to reserve without a decision. This is necessary for an order that may already have
   * been sent, because it can no longer be refused.
   */
  claim({ orders, policy, since, signers = [], admit }: Reserving, isForced: boolean): Claimed {
    const now = this.#now();
    if (policy) this.#audit.followPolicy(policy.hash, policy.profile);
    const found = orders.map((order) => ({ order, before: this.#find(order) }));
    const fresh = found.filter(({ order, before }) => adds(order, before)).map(({ order }) => order);
    let admission: Admission = {};
    if (fresh.length > 0 && !isForced) {
      const usage = this.#usageFor({ since, signers }, fresh, found);
      const { override, ...rest } = admit(fresh, usage);
      admission = { ...rest, override: override && withoutPrivate(override) };
    }
    this.#noteAdmission(fresh, admission);
    const written = found.flatMap(({ order, before }) =>
      before?.state === 'settled'
        ? []
        : [claimed(order, before, { ...admission, now, owner: self(this.#database.lease) })],
    );
    this.#rows.write(written);
    if (fresh.length > 0) this.#rows.sweep(now - retentionMs);
    const single = found.find(({ order }) => order.key === order.intent);
    return {
      keySince: single && this.#keySince(single.before, admission.approval),
      ...(this.#signing.isShared && { reserved: reservedBy(written) }),
    };
  }

  /**
   * Computes missing sums of limits and verifies changes, so that the decision itself has little to read. A failure is
   * harmless, because the decision computes what is missing.
   */
  async prepare({ limits = [], signers = [] }: Pick<Reserving, 'limits' | 'signers'>): Promise<void> {
    const { sums } = this.#rows;
    try {
      if (!this.#needsWork(limits, signers)) return;
      if (!sums.exist)
        await this.#database.derivedTransaction(() => {
          if (!sums.exist) sums.create();
        });
      const lacking = limits.filter((limit) => sums.of(limit) === undefined);
      // Verify the reservations before taking the lock. Changes made meanwhile are verified under the lock.
      if (lacking.length > 0) this.since(Math.min(...lacking.map(({ begin }) => begin)));
      await this.#database.derivedTransaction(() => {
        this.#verify(signers);
        for (const limit of lacking) sums.keep(limit);
      });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  #needsWork(limits: readonly SummedLimit[], signers: readonly Signer[]): boolean {
    const { sums } = this.#rows;
    if (!sums.exist || limits.some((limit) => sums.of(limit) === undefined)) return true;
    const pending = this.#signing.isShared
      ? this.#chain(signers).pending
      : sums.lastSerial() - (sums.mark(ownMark)?.serial ?? 0);
    return pending === undefined || pending > maxPending;
  }

  /** Verifies changes and moves the mark. Call within a transaction. @throws DamagedError. */
  #verify(signers: readonly Signer[]): void {
    const { sums } = this.#rows;
    // Another process may have rebuilt this copy of a shared database. The sums are then gone.
    if (!sums.exist) sums.create();
    if (this.#signing.isShared) this.#chain(signers).advance(() => this.since(this.#comparedSince));
    else {
      this.#rows.checkTotals();
      this.#checkChanges();
      sums.writeMark(ownMark, { number: 0, hash: '', serial: sums.lastSerial(), mac: '' });
    }
  }

  get #comparedSince(): number {
    return this.#now() - comparedMs;
  }

  #chain(signers: readonly Signer[]): VerifiedChain {
    const parts = {
      ...{ audit: this.#audit, sums: this.#rows.sums, database: this.#database.id },
      ...{ since: this.#comparedSince, find: (order: OrderId) => this.#find(order) },
    };
    return new VerifiedChain(parts, signers);
  }

  /** Verifies the reservations that other programs have written since the last verification. @throws DamagedError. */
  #checkChanges(): void {
    const { sums } = this.#rows;
    for (const change of sums.changes(sums.mark(ownMark)?.serial ?? 0)) {
      const row = this.#database.get(`${storedReservations} WHERE rowid = ?`, change.place);
      if (row) this.#intact(row);
      this.#find(change);
    }
  }

  /**
   * What is reserved and spent now. Used to evaluate a policy without reserving anything.
   * @throws DamagedError; StorageError.
   */
  async usageFor(reserving: Pick<Reserving, 'since' | 'limits' | 'signers'>): Promise<LimitUsage> {
    await this.prepare(reserving);
    return this.#usageFor(reserving, [], []);
  }

  /** @param fresh are the orders about which to decide. @param found holds their existing reservations. */
  #usageFor(
    { since, signers = [] }: Pick<Reserving, 'since' | 'signers'>,
    fresh: readonly OrderId[],
    found: readonly { readonly order: OrderId; readonly before: Reservation | undefined }[],
  ): LimitUsage {
    const ids = new Set(fresh.map(idOf));
    const isFresh = (order: OrderId): boolean => ids.has(idOf(order));
    if (!this.#isAsEntered(signers))
      return new ListedUsage(this.standing(since, signers).filter((one) => !isFresh(one)));
    const excluded = new Map<string, Reservation>();
    for (const { order, before } of found) if (before && isFresh(order)) excluded.set(idOf(order), before);
    const reader = {
      sums: this.#rows.sums,
      find: (order: OrderId) => this.#find(order),
      recount: (limit: SummedLimit) => {
        this.since(limit.begin);
        return this.#rows.sums.recount(limit);
      },
      withApproval: (approval: string) =>
        this.#database
          .all(`${storedReservations} WHERE approval = ? ORDER BY at, key`, approval)
          .map((row) => this.#intact(row)),
    };
    return new SummedUsage(reader, fresh, [...excluded.values()]);
  }

  /**
   * Whether the running sums can be used. They can if they exist and the reservations are unaltered.
   * @throws DamagedError.
   */
  #isAsEntered(signers: readonly Signer[]): boolean {
    if (!this.#rows.sums.exist) return false;
    this.#rows.checkTotals();
    if (this.#signing.isShared) return this.#chain(signers).holds;
    this.#checkChanges();
    return true;
  }

  /** Describes each running sum that does not match its reservations. One line per sum. @throws StorageError. */
  sumProblems(): string[] {
    return this.#rows.sums.problems();
  }

  /** When the key may have been used for the first time; undefined if only this attempt has used the key. */
  #keySince(before: Reservation | undefined, used: string | undefined): string | undefined {
    const approval = used ?? before?.approval;
    const sql = 'SELECT asked_at FROM approvals WHERE id = ?';
    const requestedAt = approval === undefined ? undefined : this.#database.get(sql, approval)?.asked_at;
    const reserved = before && usesApproval(before) ? before.at : undefined;
    const times = [reserved, requestedAt === undefined ? undefined : Date.parse(String(requestedAt))];
    const first = Math.min(...times.filter((time) => time !== undefined));
    return Number.isFinite(first) ? new Date(first).toISOString() : undefined;
  }

  /**
   * All reservations since a time, including released ones. @throws DamagedError if a reservation fails its checksum.
   */
  since(since: number): Reservation[] {
    this.#rows.check();
    const rows = this.#database.all(`${storedReservations} WHERE at >= ? ORDER BY at, key`, since);
    return rows.map((row) => this.#intact(row));
  }

  /**
   * Same as `since`. In a shared journal, also counts the money that is reserved according to the audit chain.
   * @param signers verify the chain.
   * @throws DamagedError.
   */
  standing(since: number, signers: readonly Signer[]): Reservation[] {
    const found = this.since(since);
    if (!this.#signing.isShared) return found;
    const rows = this.#audit.ofKinds(reservingKinds, new Date(since).toISOString());
    return correctedReservations(found, rows, signers, since);
  }

  /** Reservations that differ from the audit chain. @throws DamagedError. */
  altered(signers: readonly Signer[]): Reservation[] {
    return this.standing(this.#comparedSince, signers).filter(({ isAltered }) => isAltered);
  }

  /** The reservation of an order, found by order id or by idempotency key at a service. @throws DamagedError. */
  about(baseUrl: string, orderId: string | undefined, key: string | undefined): Reservation | undefined {
    const sql = `${storedReservations} WHERE base_url = ? AND (order_id = ? OR key = ?) ORDER BY order_id IS NULL`;
    const row = this.#database.get(sql, baseUrl, orderId ?? null, key ?? null);
    return row && this.#intact(row);
  }

  /**
   * Whether the full ceiling of every order is reserved. After a repair, a single reservation may cover the whole
   * intent.
   * @throws DamagedError.
   */
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

  /**
   * Links an intent's reservation to the order that the intent has produced. Call within a transaction of the journal.
   */
  made(intent: IntentRow, orderId: string): void {
    const reservation = this.#find(orderOf(intent));
    if (reservation) this.#write(withOrder(reservation, String(intent.key), orderId));
  }

  /**
   * Releases the reservations of an intent that definitely ordered nothing. Call within a transaction of the journal.
   */
  giveBack(intent: IntentRow): void {
    const { key, baseUrl, account } = orderOf(intent);
    const own = this.#find(orderOf(intent));
    // Money that another attempt with the same key has spent stays reserved.
    for (const reservation of own ? [own] : this.#held(baseUrl, account, key))
      if (
        reservation.state === 'held' &&
        reservation.intents.includes(key) &&
        reservation.orderId === undefined
      )
        this.#drop(reservation, key);
    this.#noteReturned(baseUrl);
  }

  /** Releases reservations for intents that were never recorded and therefore never sent. @throws StorageError. */
  giveBackUnsent(intents: readonly string[], baseUrl: string, account: string): Promise<void> {
    return this.#database.transaction(() => {
      const unsent = new Set(intents.filter((intent) => !this.#table.find(intent, baseUrl)));
      if (unsent.size === 0) return;
      for (const { key } of this.#held(baseUrl, account)) this.#dropAll({ key, baseUrl, account }, unsent);
      this.#noteReturned(baseUrl);
    });
  }

  /**
   * Same as `giveBackUnsent`, for reservations of processes that ended before they could release them.
   * @throws StorageError.
   */
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

  /** Stores what the service has reported. @returns the number of reservations that changed. @throws StorageError. */
  async settle(readings: readonly Reading[]): Promise<number> {
    const signers = new Map<string, Signer | undefined>();
    for (const { reservation } of readings)
      if (!signers.has(reservation.account))
        signers.set(reservation.account, await this.#signing.signers.of(reservation.account));
    return this.#database.transaction(() => {
      let count = 0;
      const counted: Reservation[] = [];
      for (const { reservation, costCents, isVoid = false, without, orderId } of readings) {
        const now = this.#find(reservation);
        // Skip a reservation that another process has changed after this reading, because the changed state is newer.
        if (!now || now.state !== reservation.state || now.intents.length !== reservation.intents.length)
          continue;
        const known = orderId === undefined ? now : { ...now, orderId };
        if (isVoid) counted.push(this.#write({ ...known, state: 'released', counted: 0 }));
        else if (costCents !== undefined)
          counted.push(this.#write({ ...known, state: 'settled', counted: costCents }));
        else if (without !== undefined) {
          counted.push(this.#drop(known, without));
          this.#noteReturned(known.baseUrl);
        } else if (orderId !== undefined && orderId !== now.orderId) this.#write(known);
        else continue;
        count += 1;
      }
      if (this.#signing.isShared) this.#noteCounted(counted, signers);
      return count;
    });
  }

  /**
   * Records in the audit chain with which amounts reservations count from now on. One entry per service and account.
   */
  #noteCounted(counted: readonly Reservation[], signers: ReadonlyMap<string, Signer | undefined>): void {
    const known = counted.filter(({ state }) => state !== 'held');
    const isOf = (one: Reservation, other: Reservation): boolean =>
      one.baseUrl === other.baseUrl && one.account === other.account;
    for (const first of known.filter((one, at) => known.findIndex((other) => isOf(one, other)) === at)) {
      const { baseUrl: service, account } = first;
      const orders = known
        .filter((one) => isOf(one, first))
        .map((one) => [orderHash(one.key), one.counted] as const);
      this.#audit.appendSigned(
        { kind: 'counted', service, detail: { account, orders } },
        signers.get(account),
      );
    }
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

  /** Records the approvals that were returned since the last call. Call within the transaction that returned them. */
  #noteReturned(service: string): void {
    for (const [approval, { orders, cents }] of this.#returned)
      this.#audit.append({ kind: 'approval_returned', service, cents, detail: { approval, orders } });
    this.#returned.clear();
  }

  /**
   * The held reservations at a service for an account.
   * @param intent limits the result to reservations that may belong to this intent.
   */
  #held(baseUrl: string, account: string, intent = ''): Reservation[] {
    const sql = `${storedReservations} WHERE state = 'held' AND base_url = ? AND account = ? AND instr(intents, ?) > 0`;
    const part = JSON.stringify(intent).slice(1, -1);
    return this.#database.all(sql, baseUrl, account, part).map((row) => this.#intact(row));
  }

  #dropAll(order: OrderId, intents: ReadonlySet<string>): void {
    for (const intent of intents) {
      const reservation = this.#find(order);
      if (reservation?.state === 'held' && reservation.intents.includes(intent))
        this.#drop(reservation, intent);
    }
  }

  #drop(reservation: Reservation, intent: string): Reservation {
    const intents = reservation.intents.filter((other) => other !== intent);
    const isVoid = intents.length === 0;
    const { approval, cents, orderId } = reservation;
    if (isVoid && approval !== undefined && !usesApproval({ state: 'released', orderId })) {
      const sum = this.#returned.get(approval) ?? { orders: 0, cents: 0 };
      this.#returned.set(approval, { orders: sum.orders + 1, cents: sum.cents + cents });
    }
    return this.#write({ ...reservation, intents, ...(isVoid && { state: 'released', counted: 0 }) });
  }

  #find({ key, baseUrl, account }: OrderId): Reservation | undefined {
    const sql = `${storedReservations} WHERE key = ? AND base_url = ? AND account = ?`;
    const row = this.#database.get(sql, key, baseUrl, account);
    return row && this.#intact(row);
  }

  #write(reservation: Reservation): Reservation {
    this.#rows.write([reservation]);
    return reservation;
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

/** Result of a claim. */
interface Claimed {
  /**
   * When the key of a single order may have been used for the first time (ISO 8601): on this machine, or on another
   * machine that received the order's approval.
   */
  readonly keySince: string | undefined;
  /**
   * Reservations for the audit entry of the intent; undefined if the entry needs none, which is the case in a journal
   * that is not shared.
   */
  readonly reserved?: ReservedByIntent | undefined;
}

type OrderToCover = OrderId & Pick<OrderToReserve, 'intent' | 'cents' | 'feeCents'>;

const orderOf = ({ key, base_url: baseUrl, account }: IntentRow): OrderId => ({
  key: String(key),
  baseUrl: String(baseUrl),
  account: String(account),
});

const idOf = ({ key, baseUrl, account }: OrderId): string => JSON.stringify([key, baseUrl, account]);
