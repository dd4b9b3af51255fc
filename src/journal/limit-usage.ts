import { type Reservation, usesApproval } from './reservation-row.ts';
import { placeOf, type RunningSums } from './running-sums.ts';
import { isSummed, type OrderId, type ReservedFacts, type SummedLimit } from './summed-limit.ts';

/** Money already reserved or spent. Does not include the orders being decided about. */
export interface LimitUsage {
  /** Amount that counts towards a limit, in cents. */
  used(limit: SummedLimit): number;
  /**
   * Reservations that may share a product or the recipient with `facts`, oldest first. Includes at least the newest
   * reservation per product and per recipient that has spent something. Also includes every altered reservation.
   */
  like(facts: readonly Products[], since: number, isRehearsal: boolean): readonly Reservation[];
  /** Reservations that use an approval. */
  using(approval: string): readonly Reservation[];
}

type Products = Pick<ReservedFacts, 'products' | 'recipient' | 'address'>;

/** Usage computed from a list of all reservations. */
export class ListedUsage implements LimitUsage {
  readonly #all: readonly Reservation[];

  constructor(all: readonly Reservation[]) {
    this.#all = all;
  }

  used(limit: SummedLimit): number {
    return this.#all.reduce((sum, one) => (isSummed(limit, one) ? sum + one.counted : sum), 0);
  }

  like(_: readonly Products[], since: number, isRehearsal: boolean): readonly Reservation[] {
    return this.#all.filter((one) => one.isRehearsal === isRehearsal && one.at > since);
  }

  using(approval: string): readonly Reservation[] {
    return this.#all.filter((one) => one.approval === approval && usesApproval(one));
  }
}

/** How a `SummedUsage` reads reservations. */
interface Reader {
  readonly sums: RunningSums;
  /** @throws DamagedError if the reservation fails its checksum. */
  find(order: OrderId): Reservation | undefined;
  /** Computes the amount of a limit that has no stored sum. @throws DamagedError. */
  recount(limit: SummedLimit): number;
  withApproval(approval: string): readonly Reservation[];
}

/**
 * Usage computed from running sums. Reads only the reservations that matter, so all reservations must have been
 * verified before.
 */
export class SummedUsage implements LimitUsage {
  readonly #reader: Reader;
  /** Existing reservations of the orders being decided about. These reservations do not count. */
  readonly #excluded: readonly Reservation[];
  readonly #ids: ReadonlySet<string>;

  constructor(reader: Reader, orders: readonly OrderId[], excluded: readonly Reservation[]) {
    this.#reader = reader;
    this.#excluded = excluded;
    this.#ids = new Set(orders.map(idOf));
  }

  used(limit: SummedLimit): number {
    const all = this.#reader.sums.of(limit) ?? this.#reader.recount(limit);
    return this.#excluded.reduce((sum, one) => (isSummed(limit, one) ? sum - one.counted : sum), all);
  }

  like(facts: readonly Products[], since: number, isRehearsal: boolean): readonly Reservation[] {
    const places = new Set(facts.map(placeOf));
    const products = new Set(facts.flatMap((one) => one.products));
    const both = new Set(
      facts.flatMap((one) => one.products.map((product) => JSON.stringify([product, placeOf(one)]))),
    );
    const lookups = [
      ...[...places].map((place) => ({ product: '', place })),
      ...[...products].map((product) => ({ product, place: undefined })),
      ...[...both].map((pair) => {
        const [product, place]: string[] = JSON.parse(pair);
        return { product: product ?? '', place };
      }),
    ];
    const found = new Map<string, Reservation>();
    for (const looked of lookups) {
      const order = this.#reader.sums.newest({ ...looked, since, isRehearsal }, (one) =>
        this.#ids.has(idOf(one)),
      );
      const reservation = order && this.#reader.find(order);
      if (reservation) found.set(idOf(reservation), reservation);
    }
    return [...found.values()].toSorted((one, other) => one.at - other.at || (one.key < other.key ? -1 : 1));
  }

  using(approval: string): readonly Reservation[] {
    return this.#reader
      .withApproval(approval)
      .filter((one) => one.approval === approval && usesApproval(one) && !this.#ids.has(idOf(one)));
  }
}

const idOf = ({ key, baseUrl, account }: OrderId): string => JSON.stringify([key, baseUrl, account]);
