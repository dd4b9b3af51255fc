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

/**
 * `held`: it may be spent, or was, and what it came to is not known. `settled`: what it cost was read. `released`: surely
 * nothing was spent.
 */
type ReservationState = 'held' | 'settled' | 'released';

/** What limits may be about, besides the amount. Addresses and metadata are hashes: a reservation outlives its order. */
interface ReservedFacts {
  /** Names and hosts. */
  readonly retailers: readonly string[];
  readonly metadata: readonly string[];
  readonly products: readonly string[];
  readonly address: string;
}

/** An order for which money is to be reserved. */
export interface OrderToReserve {
  /** The idempotency key of the order; of a row of a batch, the row's own. */
  readonly key: string;
  readonly baseUrl: string;
  readonly account: string;
  /** The journal's key of the intent that orders it: the same, or that of the batch. */
  readonly intent: string;
  /** Ceiling and fee, cents. */
  readonly cents: number;
  readonly feeCents: number;
  /** No money moves: the embedded sandbox, or a test key. Such orders have limits of their own. */
  readonly isRehearsal: boolean;
  readonly facts: ReservedFacts;
}

export interface Reservation extends Omit<OrderToReserve, 'intent'> {
  readonly state: ReservationState;
  /** When it was first reserved, ms since the epoch. */
  readonly at: number;
  /** What counts, cents: all that is held, what a settled one cost, nothing of a released one. */
  readonly counted: number;
  readonly orderId: string | undefined;
  /** Every intent that may order it; it is given back once none may have. */
  readonly intents: readonly string[];
  /** The process that reserved it last. */
  readonly pid: number;
  readonly started: string;
  /** Why the policy was overruled for it. */
  readonly override: string | undefined;
  /** The id of the approval that it uses, or used until it was given back. */
  readonly approval: string | undefined;
}

/** Whether a reservation uses its approval up: all do but those of which surely no order came. */
export const usesApproval = ({ state, orderId }: Pick<Reservation, 'state' | 'orderId'>): boolean =>
  state !== 'released' || orderId !== undefined;

/** The same once it has led to an order. What was given back, since it was taken for refused, is held again. Pure. */
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

/** Every column, and whether a text of the row is longer than it is read. */
export const storedReservations = `SELECT *, ${hiddenText(columns)} FROM reservations`;

const writeReservation = `INSERT OR REPLACE INTO reservations (${columns.join(', ')}, approval, checksum)
  VALUES (${columns.map(() => '?').join(', ')}, ?, ?)`;

/** The values of `writeReservation`, with the checksum over all of them. */
function rowOf(reservation: Reservation): SqlValue[] {
  const { key, baseUrl, account, state, at, cents, feeCents, counted, isRehearsal, orderId } = reservation;
  const { pid, started, override, intents, facts, approval = null } = reservation;
  const values = [
    ...[key, baseUrl, account, state, at, cents, feeCents, counted, isRehearsal ? 1 : 0, orderId ?? null],
    ...[pid, started, override ?? null, JSON.stringify(intents), JSON.stringify(facts)],
  ];
  return [...values, approval, checksumOf([...values, approval])];
}

/** A row as a reservation; undefined where it is not what was written. */
export function reservationOf(row: StoredRow): Reservation | undefined {
  const isWhole = row.checksum === checksumOf([...columns, 'approval'].map((name) => row[name]));
  if (row.hides_text === 1 || !isWhole) return undefined;
  return {
    key: String(row.key),
    baseUrl: String(row.base_url),
    account: String(row.account),
    // The checksum vouches for what was written: a state, and JSON of ours.
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
    intents: JSON.parse(String(row.intents)),
    facts: JSON.parse(String(row.facts)),
  };
}

/** Stands among the intents of a reservation whose intents are not all known: it is never given back unread. */
export const unknownIntent = '';

const amountOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;

/** A row that damage has changed, as a reservation that counts with the most that it may stand for. Undefined where nothing can be told. */
export function salvagedReservation(row: StoredRow): Reservation | undefined {
  const whole = reservationOf(row);
  if (whole) return whole.state === 'held' ? { ...whole, intents: [...whole.intents, unknownIntent] } : whole;
  const { key, base_url: baseUrl, account, at } = row;
  if (typeof key !== 'string' || typeof baseUrl !== 'string' || typeof account !== 'string') return undefined;
  const most = Math.max(amountOf(row.cents), amountOf(row.counted));
  return {
    ...{ key, baseUrl, account, state: 'held', at: amountOf(at), cents: most, counted: most },
    ...{ feeCents: 0, isRehearsal: row.rehearsal === 1, orderId: undefined, pid: 0, started: '' },
    ...{ override: undefined, approval: approvalIn(row), intents: [unknownIntent] },
    facts: { retailers: [], metadata: [], products: [], address: '' },
  };
}

const approvalIn = ({ approval }: StoredRow): string | undefined =>
  typeof approval === 'string' ? approval : undefined;

/** The approval comes last, and is left out where there is none: so rows were written before there were approvals. */
function checksumOf(values: readonly unknown[]): string {
  const said = values.map((value) => value ?? null);
  return sha256(`reservation ${JSON.stringify(said.at(-1) === null ? said.slice(0, -1) : said)}`).slice(
    0,
    32,
  );
}

/** On what grounds money is reserved that a policy does not simply allow. */
export interface Admission {
  /** Why it is done against the policy. */
  readonly override?: string | undefined;
  /** The id of the approval that it uses up. */
  readonly approval?: string | undefined;
}

/** Whether an order may spend more than what stands for its key. What is settled exists, and is not made again. */
export const adds = ({ cents }: OrderToReserve, before: Reservation | undefined): boolean =>
  !before || before.state === 'released' || (before.state === 'held' && cents > before.cents);

/** What stands for an order that is about to be sent. @param before what stood. */
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

/** Rows of reservations, and what they must add up to: one that is missing would let the same money be spent again. Within transactions. */
export class ReservationTable {
  readonly #database: Database;
  readonly #tally: Tally;

  constructor(database: Database, tally: Tally) {
    this.#database = database;
    this.#tally = tally;
  }

  /** Each in the place of the one with its key. @throws DamagedError. */
  write(reservations: readonly Reservation[]): void {
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

  /** Deletes what was reserved before a time, ms since the epoch. @throws DamagedError. */
  sweep(before: number): void {
    const { rows, times } = this.#known();
    const old = sumReservations(this.#database, before);
    if (old.rows === 0n) return;
    this.#database.run('DELETE FROM reservations WHERE at < ?', before);
    writeReservationSum(this.#database, { rows: rows - old.rows, times: times - old.times });
  }

  /** @throws DamagedError where one is missing, or was moved to another time. */
  check(): void {
    const [known, found] = [this.#known(), sumReservations(this.#database)];
    if (known.rows !== found.rows || known.times !== found.times)
      throw this.#tally.damaged('reservations are missing from it, or were changed');
  }

  #known(): ReservationSum {
    const known = knownReservations(this.#database);
    if (known) return known;
    throw this.#tally.damaged('the count of its reservations was changed');
  }
}
