import { hash, randomBytes, randomInt } from 'node:crypto';
import type { Store } from './store.ts';

const seedName = 'seed';
const countName = 'count:';
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Letters and digits that nobody can guess or compute: a seed decides ids, prices and outcomes, never secrets. */
export function secretToken(length: number): string {
  return Array.from({ length }, () => digits[randomInt(digits.length)]).join('');
}

/**
 * Ids that follow from the store's seed and a counter: the same seed gives the same ones. A store without a seed of its
 * own gets a random one.
 */
export class Identity {
  readonly #store: Store;
  readonly #given: number | undefined;
  /** Ids of each kind that come next, in place of those that would be drawn. */
  readonly #spelled = new Map<string, string[]>();
  /** What the store is to get with the next transaction that needs it. */
  #fresh: string | undefined;

  private constructor(store: Store, given: number | undefined) {
    this.#store = store;
    this.#given = given;
  }

  /** @param seed kept with a store that has none yet; others are passed over. @throws DatabaseError. */
  static async open(store: Store, seed: number | undefined): Promise<Identity> {
    const identity = new Identity(store, seed);
    if (store.meta(seedName) === undefined) await store.transaction(() => identity.seed);
    return identity;
  }

  /** The store's own, whatever it is by now: another process may have emptied the store, or brought an earlier state back. */
  get seed(): string {
    const known = this.#store.meta(seedName);
    if (known !== undefined) {
      this.#fresh = undefined;
      return known;
    }
    this.#fresh ??= this.#given === undefined ? randomBytes(32).toString('hex') : String(this.#given);
    if (this.#store.isInTransaction) this.#store.setMeta(seedName, this.#fresh);
    return this.#fresh;
  }

  /** A UUID (version 4 by form). Call within the transaction that keeps it. */
  uuid(kind: string): string {
    const hex = this.#digest(kind).toString('hex');
    const spelled = this.#spelled.get(kind)?.shift();
    if (spelled !== undefined) return spelled;
    const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /** Letters and digits, at most 32. Call within the transaction that keeps them. */
  token(kind: string, length: number): string {
    return [...this.#digest(kind)]
      .slice(0, length)
      .map((byte) => digits[byte % digits.length])
      .join('');
  }

  /** Makes the next id of a kind this one; they are counted as if it had been drawn. */
  spell(kind: string, id: string): void {
    const ids = this.#spelled.get(kind);
    if (ids) ids.push(id);
    else this.#spelled.set(kind, [id]);
  }

  /** Goes on from another seed, before any id was given out. Within a transaction. */
  reseed(seed: string): void {
    this.#store.setMeta(seedName, seed);
  }

  /** How many ids of each kind were given out. */
  get counts(): Record<string, number> {
    const rows = this.#store.all(
      `SELECT name, value FROM meta WHERE name LIKE '${countName}%' ORDER BY name`,
    );
    return Object.fromEntries(
      rows.map(({ name, value }) => [String(name).slice(countName.length), Number(value)]),
    );
  }

  /** Goes on as if so many ids of a kind had been given out. Within a transaction. */
  count(kind: string, given: number): void {
    this.#store.setMeta(`${countName}${kind}`, String(given));
  }

  #digest(kind: string): Buffer {
    const count = this.#store.returning(
      `INSERT INTO meta (name, value) VALUES (?, '1')
       ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1 RETURNING CAST(value AS INTEGER) AS value`,
      `${countName}${kind}`,
    )?.value;
    return hash('sha256', JSON.stringify([this.seed, kind, Number(count)]), 'buffer');
  }
}
