import { jsonIn, own } from '../api/json.ts';
import { sha256 } from '../format/canonical.ts';
import type { Database, SqlValue, StoredRow } from '../platform/sqlite/database.ts';
import { hiddenText, type Tally } from './integrity.ts';
import {
  knownReservations,
  type ReservationSum,
  sumReservations,
  writeReservationSum,
} from './journal-facts.ts';
import type { Owner } from './owner.ts';
import { RunningSums } from './running-sums.ts';
import type { OrderId, ReservedFacts } from './summed-limit.ts';

/**
 * State of a reservation. `held`: the money was spent or may still be spent, and the cost is unknown. `settled`: the
 * cost is known. `released`: the money was definitely not spent.
 */
type ReservationState = 'held' | 'settled' | 'released';

/** An order for which to reserve money. */
export interface OrderToReserve extends OrderId {
  /** Journal key of the intent that places the order: the key of the order itself, or of the order's batch. */
  readonly intent: string;
  /** Ceiling plus fee, cents. */
  readonly cents: number;
  readonly feeCents: number;
  /**
   * Whether no money moves, because the order goes to the embedded sandbox or is sent with a test key. Rehearsals have
   * limits of their own.
   */
  readonly isRehearsal: boolean;
  readonly facts: ReservedFacts;
}

export interface Reservation extends Omit<OrderToReserve, 'intent'> {
  readonly state: ReservationState;
  /** When the money was first reserved, in ms since the epoch. */
  readonly at: number;
  /**
   * Amount, in cents, with which the order counts towards limits: the whole reservation while held, the actual cost
   * once settled, 0 once released.
   */
  readonly counted: number;
  readonly orderId: string | undefined;
  /** All intents that may place the order. The money is released once it is certain that none of them has placed it. */
  readonly intents: readonly string[];
  /** The process that last reserved the money. */
  readonly pid: number;
  readonly started: string;
  /** Reason given for overriding the policy. */
  readonly override: string | undefined;
  /** Id of the approval that the reservation uses, or used until it was released. */
  readonly approval: string | undefined;
  /**
   * Whether the reservation differs from the audit chain. If so, its facts may be unknown, so it counts in every limit
   * of its period.
   */
  readonly isAltered?: boolean;
}

/** Whether a reservation uses up its approval. It does, unless it was released and has no order. */
export const usesApproval = ({ state, orderId }: Pick<Reservation, 'state' | 'orderId'>): boolean =>
  state !== 'released' || orderId !== undefined;

/**
 * The reservation after its intent has led to an order. Goes back to `held` if it was released because the order seemed
 * to be refused. Pure.
 */
export function withOrder(reservation: Reservation, intent: string, orderId: string): Reservation {
  if (reservation.state !== 'released') return { ...reservation, orderId };
  if (reservation.orderId === orderId) return reservation;
  return { ...reservation, state: 'held', counted: reservation.cents, intents: [intent], orderId };
}

const columns = [
  'key',
  'base_url',
  'account',
  'state',
  'at',
  'cents',
  'fee',
  'counted',
  'rehearsal',
  'order_id',
  'pid',
  'process_started',
  'override',
  'intents',
  'facts',
] as const;

export const createReservations = `
  CREATE TABLE reservations (
    key TEXT NOT NULL, base_url TEXT NOT NULL, account TEXT NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL,
    cents INTEGER NOT NULL, fee INTEGER NOT NULL, counted INTEGER NOT NULL, rehearsal INTEGER NOT NULL, order_id TEXT,
    pid INTEGER NOT NULL, process_started TEXT NOT NULL, override TEXT, intents TEXT NOT NULL, facts TEXT NOT NULL,
    checksum TEXT NOT NULL, PRIMARY KEY (key, base_url, account)) STRICT;
  CREATE INDEX reservations_at ON reservations (at);
  CREATE INDEX reservations_held ON reservations (base_url, account) WHERE state = 'held'`;

/** Selects all columns. Also selects a flag that is set if SQLite stores more text than it returns. */
export const storedReservations = `SELECT *, ${hiddenText(columns)} FROM reservations`;

const writeReservation = `INSERT OR REPLACE INTO reservations (${columns.join(', ')}, approval, checksum)
  VALUES (${columns.map(() => '?').join(', ')}, ?, ?)`;

/** Parameters of `writeReservation`, including a checksum over the other parameters. */
export function rowOf(reservation: Reservation): SqlValue[] {
  const { key, baseUrl, account, state, at, cents, feeCents, counted, isRehearsal, orderId } = reservation;
  const { pid, started, override, intents, facts, approval = null } = reservation;
  const values = [
    ...[key, baseUrl, account, state, at, cents, feeCents, counted, isRehearsal ? 1 : 0, orderId ?? null],
    ...[pid, started, override ?? null, JSON.stringify(intents), JSON.stringify(facts)],
  ];
  return [...values, approval, checksumOf([...values, approval])];
}

/** Parses a row; undefined if the row fails its checksum, or is not as errand writes it. */
export function reservationOf(row: StoredRow): Reservation | undefined {
  const isWhole = row.checksum === checksumOf([...columns, 'approval'].map((name) => row[name]));
  if (row.hides_text === 1 || !isWhole) return undefined;
  // In a shared database, others may write a checksum that fits.
  const [intents, facts] = [jsonIn(row.intents), jsonIn(row.facts)];
  if (!areTexts(intents) || !areFacts(facts)) return undefined;
  return {
    key: String(row.key),
    baseUrl: String(row.base_url),
    account: String(row.account),
    // The cast is safe, because the checksum has been verified.
    state: row.state as ReservationState,
    at: Number(row.at),
    cents: Number(row.cents),
    feeCents: Number(row.fee),
    counted: Number(row.counted),
    isRehearsal: row.rehearsal === 1,
    orderId: row.order_id === null ? undefined : String(row.order_id),
    pid: Number(row.pid),
    started: String(row.process_started),
    override: row.override === null ? undefined : String(row.override),
    approval: approvalIn(row),
    intents,
    facts,
  };
}

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const areFacts = (value: unknown): value is ReservedFacts =>
  typeof value === 'object' &&
  value !== null &&
  ['retailers', 'metadata', 'products'].every((name) => areTexts(own(value, name)));

/**
 * Placeholder for unknown intents of a reservation. A reservation with this placeholder is never released without
 * asking the service.
 */
export const unknownIntent = '';

const amountOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;

/**
 * Rebuilds a damaged row as a reservation that counts with its maximum. Undefined if the row's key, service or account
 * is missing.
 */
export function salvagedReservation(row: StoredRow): Reservation | undefined {
  const whole = reservationOf(row);
  if (whole) return whole.state === 'held' ? { ...whole, intents: [...whole.intents, unknownIntent] } : whole;
  const { key, base_url: baseUrl, account, at } = row;
  if (typeof key !== 'string' || typeof baseUrl !== 'string' || typeof account !== 'string') return undefined;
  const maxCents = Math.max(amountOf(row.cents), amountOf(row.counted));
  return {
    ...{ key, baseUrl, account, state: 'held', at: amountOf(at), cents: maxCents, counted: maxCents },
    ...{ feeCents: 0, isRehearsal: row.rehearsal === 1, orderId: undefined, pid: 0, started: '' },
    ...{ override: undefined, approval: approvalIn(row), intents: [unknownIntent] },
    facts: { retailers: [], metadata: [], products: [], recipient: '' },
  };
}

const approvalIn = ({ approval }: StoredRow): string | undefined =>
  typeof approval === 'string' ? approval : undefined;

/**
 * The approval comes last and is left out if null, so that rows from before approvals existed keep the same checksum.
 */
function checksumOf(values: readonly unknown[]): string {
  const normalized = values.map((value) => value ?? null);
  return sha256(
    `reservation ${JSON.stringify(normalized.at(-1) === null ? normalized.slice(0, -1) : normalized)}`,
  ).slice(0, 32);
}

/** Reasons for reserving money if the policy does not allow it without further conditions. */
export interface Admission {
  /** Reason for overriding the policy. */
  readonly override?: string | undefined;
  /** Id of the approval that the reservation uses up. */
  readonly approval?: string | undefined;
}

/**
 * Whether an order may spend more than is already reserved for its key. A settled order exists and is not placed again.
 */
export const adds = ({ cents }: OrderToReserve, before: Reservation | undefined): boolean =>
  !before || before.state === 'released' || (before.state === 'held' && cents > before.cents);

/** The reservation of an order that is about to be sent. @param before is the existing reservation of the order. */
export function claimed(
  { intent, ...order }: OrderToReserve,
  before: Reservation | undefined,
  { now, owner, override, approval }: Admission & { readonly now: number; readonly owner: Owner },
): Reservation {
  if (!before || before.state === 'released')
    return {
      ...order,
      ...owner,
      state: 'held',
      at: now,
      counted: order.cents,
      orderId: undefined,
      intents: [intent],
      override,
      approval,
    };
  const intents = [...new Set([...before.intents, intent])];
  if (order.cents <= before.cents) return { ...before, ...owner, intents };
  return {
    ...before,
    ...order,
    ...owner,
    intents,
    counted: order.cents,
    override: override ?? before.override,
    approval: approval ?? before.approval,
  };
}

/**
 * Stores reservations together with a sum that reveals missing rows. If a row were missing, the same money could be
 * spent again. Call within transactions.
 */
export class ReservationTable {
  readonly sums: RunningSums;
  readonly #database: Database;
  readonly #tally: Tally;

  constructor(database: Database, tally: Tally) {
    this.sums = new RunningSums(database);
    this.#database = database;
    this.#tally = tally;
  }

  /** Inserts reservations. Replaces existing reservations that have the same key. @throws DamagedError. */
  write(reservations: readonly Reservation[]): void {
    if (reservations.length > 0) this.sums.quietly(() => this.#write(reservations));
  }

  #write(reservations: readonly Reservation[]): void {
    let { rows, times } = this.#known();
    for (const reservation of reservations) {
      const { key, baseUrl, account, at } = reservation;
      const sql = 'SELECT at FROM reservations WHERE key = ? AND base_url = ? AND account = ?';
      const before = this.#database.get(sql, key, baseUrl, account);
      rows += before ? 0n : 1n;
      times += BigInt(at) - BigInt(Number(before?.at ?? 0));
      this.#database.run(writeReservation, ...rowOf(reservation));
    }
    writeReservationSum(this.#database, { rows, times });
  }

  /** Deletes reservations made before a time, which is in ms since the epoch. @throws DamagedError. */
  sweep(before: number): void {
    const { rows, times } = this.#known();
    const old = sumReservations(this.#database, before);
    if (old.rows === 0n) return;
    this.sums.quietly(() => this.#database.run('DELETE FROM reservations WHERE at < ?', before));
    writeReservationSum(this.#database, { rows: rows - old.rows, times: times - old.times });
  }

  /** @throws DamagedError if a reservation is missing, or if the time of a reservation was changed. */
  check(): void {
    const [known, found] = [this.#known(), sumReservations(this.#database)];
    if (known.rows !== found.rows || known.times !== found.times)
      throw this.#tally.damaged('reservations are missing from it, or were changed');
  }

  /**
   * Same as `check`, but compares totals that triggers maintain, so that no reservation has to be read.
   * @throws DamagedError.
   */
  checkTotals(): void {
    const [known, found] = [this.#known(), this.sums.totals()];
    if (known.rows !== found.rows || known.times !== found.times)
      throw this.#tally.damaged('reservations are missing from it, or were changed');
  }

  #known(): ReservationSum {
    const known = knownReservations(this.#database);
    if (known) return known;
    throw this.#tally.damaged('the count of its reservations was changed');
  }
}
