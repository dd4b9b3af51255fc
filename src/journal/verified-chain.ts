import { sha256 } from '../format/canonical.ts';
import type { AuditChain } from './audit.ts';
import type { Signer } from './journal-record.ts';
import { isMacOf, type Mac, macOf } from './mac.ts';
import type { Reservation } from './reservation-row.ts';
import {
  correctedReservations,
  intentId,
  orderHash,
  ordersIn,
  reservedId,
  reservingKinds,
} from './reserved-money.ts';
import type { RunningSums } from './running-sums.ts';
import type { OrderId } from './summed-limit.ts';

type Row = Readonly<Record<string, unknown>>;

interface Parts {
  readonly audit: AuditChain;
  readonly sums: RunningSums;
  /** Identity of the shared database. */
  readonly database: string | undefined;
  /** How far back reservations are compared with the chain, in ms since the epoch. */
  readonly since: number;
  /** @throws DamagedError. */
  find(order: OrderId): Reservation | undefined;
}

/** Result of verifying the entries and changes after a mark. */
interface Checked {
  /** Entries of the chain after the mark. */
  readonly entries: readonly Row[];
  /** Keys of the orders that the entries and changes are about, as far as they are known, by order id. */
  readonly keys: ReadonlyMap<string, string>;
  readonly serial: number;
}

/**
 * Verifies that reservations agree with the audit chain. Starts at a mark: reads only the chain entries and the
 * reservations that were written after the mark, and the earlier entries about the same orders. The mark is signed, and
 * is stored on this machine instead of in the shared database.
 */
export class VerifiedChain {
  readonly #parts: Parts;
  readonly #signers: readonly Signer[];
  readonly #name: string;

  constructor(parts: Parts, signers: readonly Signer[]) {
    this.#parts = parts;
    this.#signers = signers;
    this.#name = JSON.stringify(signers.map(({ account }) => account));
  }

  /** Number of entries, or of changes, after the mark, whichever is greater; undefined without a mark. */
  get pending(): number | undefined {
    const mark = this.#mark();
    if (!mark) return undefined;
    const last = this.#parts.audit.head()?.number ?? 0;
    return Math.max(last - mark.number, this.#parts.sums.lastSerial() - mark.serial);
  }

  /**
   * Whether all reservations agree with the chain. If false, only reading all of them can show whether they agree.
   * @throws DamagedError.
   */
  get holds(): boolean {
    return this.#check() !== undefined;
  }

  /**
   * Moves the mark to the end of the chain if the reservations agree with the chain. Call within a transaction.
   * @param all reads all stored reservations. It is called if the check that starts at the mark fails.
   * @throws DamagedError.
   */
  advance(all: () => readonly Reservation[]): void {
    const { audit, sums } = this.#parts;
    const checked = this.#check() ?? this.#checkAll(all());
    if (!checked) return;
    for (const entry of checked.entries) {
      const number = Number(entry.number);
      if (entry.kind !== 'counted') sums.note(refOf('intent', intentId(entry)), number, undefined);
      for (const { id } of ordersIn(entry)) sums.note(refOf('order', id), number, checked.keys.get(id));
    }
    const head = audit.head();
    const facts = { number: head?.number ?? 0, hash: head?.hash ?? '', serial: checked.serial };
    sums.writeMark(this.#name, { ...facts, mac: this.#macOf(facts) });
  }

  #checkAll(found: readonly Reservation[]): Checked | undefined {
    const { audit, sums, since } = this.#parts;
    const entries = audit.ofKinds(reservingKinds, new Date(since).toISOString());
    const corrected = correctedReservations(found, entries, this.#signers, since);
    if (corrected.some(({ isAltered }) => isAltered)) return undefined;
    const keys = new Map(found.map((one) => [reservedId(one), one.key]));
    return { entries, keys, serial: sums.lastSerial() };
  }

  #check(): Checked | undefined {
    const { audit, sums, find, since } = this.#parts;
    const mark = this.#mark();
    if (!mark) return undefined;
    const entries = audit.ofKindsAfter(reservingKinds, mark.number);
    const keys = new Map<string, string>();
    const found = new Map<string, Reservation | undefined>();
    const numbers = new Set<number>();
    const affected = new Map<string, OrderId | undefined>();
    for (const change of sums.changes(mark.serial)) affected.set(reservedId(change), change);
    const named = new Set(entries.flatMap((entry) => this.#ordersOf(entry, entries).map(({ id }) => id)));
    for (const id of named) if (!affected.has(id)) affected.set(id, undefined);
    for (const [id, order] of affected) {
      const known = order ?? this.#orderOf(id, entries);
      found.set(id, known && find(known));
      if (known) keys.set(id, known.key);
      const about = sums.entriesAbout(refOf('order', id));
      // No entry of this order is known: an earlier version reserved the order, or the stored list of entries is gone.
      if (found.get(id) && about.length === 0 && !named.has(id)) return undefined;
      for (const { number } of about) numbers.add(number);
    }
    const about = new Set(
      [...audit.ofNumbers([...numbers]), ...entries].flatMap((row) =>
        row.kind === 'counted' ? [] : [intentId(row)],
      ),
    );
    for (const intent of about)
      for (const { number } of sums.entriesAbout(refOf('intent', intent))) numbers.add(number);
    const earlier = audit.ofNumbers([...numbers].filter((number) => number <= mark.number));
    const corrected = correctedReservations(
      [...found.values()].filter((one) => one !== undefined),
      [...earlier, ...entries],
      this.#signers,
      since,
      new Set(affected.keys()),
    );
    if (corrected.some(({ isAltered }) => isAltered)) return undefined;
    return { entries, keys, serial: sums.lastSerial() };
  }

  /** The orders whose counted amount may change because of an entry. */
  #ordersOf(entry: Row, entries: readonly Row[]): ReturnType<typeof ordersIn> {
    if (entry.kind === 'intent' || entry.kind === 'counted') return ordersIn(entry);
    const { audit, sums } = this.#parts;
    const intent = intentId(entry);
    const numbers = sums.entriesAbout(refOf('intent', intent)).map(({ number }) => number);
    const since = entries.filter((one) => one.kind !== 'counted' && intentId(one) === intent);
    return [...audit.ofNumbers(numbers), ...since].flatMap(ordersIn);
  }

  /** The order with the given id; undefined if this machine does not know the order's key. */
  #orderOf(id: string, entries: readonly Row[]): OrderId | undefined {
    const [baseUrl, account, order]: unknown[] = JSON.parse(id);
    const known = this.#parts.sums.entriesAbout(refOf('order', id)).find(({ key }) => key !== undefined)?.key;
    const intents = entries.flatMap(({ key }) =>
      typeof key === 'string' && orderHash(key) === order ? [key] : [],
    );
    const key = known ?? intents[0];
    return key === undefined ? undefined : { key, baseUrl: String(baseUrl), account: String(account) };
  }

  #mark() {
    const { audit, sums } = this.#parts;
    if (!sums.exist) return undefined;
    const mark = sums.mark(this.#name);
    if (!mark) return undefined;
    const { mac, ...facts } = mark;
    const isSigned =
      this.#mac === undefined ? mac === '' : isMacOf(mac, this.#mac, 'reservations', this.#signed(facts));
    const isThere = mark.number === 0 || audit.hashAt(mark.number) === mark.hash;
    return isSigned && isThere && mark.serial <= sums.lastSerial() ? mark : undefined;
  }

  get #mac(): Mac | undefined {
    return this.#signers[0]?.mac;
  }

  #macOf = (facts: Row): string =>
    this.#mac === undefined ? '' : macOf(this.#mac, 'reservations', this.#signed(facts));

  #signed = (facts: Row): Row => ({ ...facts, database: this.#parts.database ?? '', signers: this.#name });
}

/** Short id of an order or an intent that entries are about. */
const refOf = (what: 'intent' | 'order', id: string): string => sha256(`${what} ${id}`).slice(0, 20);
