import { hash, randomBytes, randomInt } from 'node:crypto';
import type { Store } from './store.ts';

const seedName = 'seed';
const countName = 'count:';
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An unpredictable alphanumeric token. Secrets are random, whereas ids, prices and outcomes follow from the seed. */
export function secretToken(length: number): string {
  return Array.from({ length }, () => digits[randomInt(digits.length)]).join('');
}

/**
 * Generates ids from the store's seed and a counter, so the same seed yields the same ids. If no seed is given, a store
 * gets a random seed.
 */
export class IdGenerator {
  readonly #store: Store;
  readonly #given: number | undefined;
  /** Preset ids by kind. Preset ids are used before ids are generated. */
  readonly #spelled = new Map<string, string[]>();
  /** A new seed, persisted by the next transaction that needs it. */
  #fresh: string | undefined;

  private constructor(store: Store, given: number | undefined) {
    this.#store = store;
    this.#given = given;
  }

  /** @param seed stored if the store has no seed yet; otherwise ignored. @throws DatabaseError. */
  static async open(store: Store, seed: number | undefined): Promise<IdGenerator> {
    const idGenerator = new IdGenerator(store, seed);
    if (store.meta(seedName) === undefined) await store.transaction(() => idGenerator.seed);
    return idGenerator;
  }

  /** The store's current seed. The seed changes if another process empties the store or restores a snapshot. */
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

  /** Generates a UUID in version 4 format. Must be called in the transaction that stores the UUID. */
  uuid(kind: string): string {
    const hex = this.#digest(kind).toString('hex');
    const spelled = this.#spelled.get(kind)?.shift();
    if (spelled !== undefined) return spelled;
    const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /**
   * Generates an alphanumeric token of at most 32 characters. Must be called in the transaction that stores the token.
   */
  token(kind: string, length: number): string {
    return [...this.#digest(kind)]
      .slice(0, length)
      .map((byte) => digits[byte % digits.length])
      .join('');
  }

  /** Presets the next id of a kind. The counter advances as usual. */
  spell(kind: string, id: string): void {
    const ids = this.#spelled.get(kind);
    if (ids) ids.push(id);
    else this.#spelled.set(kind, [id]);
  }

  /** Replaces the seed. Allowed only before any id has been generated. Must run in a transaction. */
  reseed(seed: string): void {
    this.#store.setMeta(seedName, seed);
  }

  /** Number of ids generated per kind. */
  get counts(): Record<string, number> {
    const rows = this.#store.all(
      `SELECT name, value FROM meta WHERE name LIKE '${countName}%' ORDER BY name`,
    );
    return Object.fromEntries(
      rows.map(({ name, value }) => [String(name).slice(countName.length), Number(value)]),
    );
  }

  /** Sets how many ids of a kind count as generated. Must run in a transaction. */
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
