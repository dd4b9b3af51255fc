import { hostOf } from '../../spending/policy/policy.ts';
import { AmountSpread, farLines } from '../check/outliers.ts';
import { rowsText } from '../check/row-sample.ts';
import { type RowNeed, RowNeeds } from '../needs/row-need.ts';
import { maxValues, totalsText } from '../plan/totals.ts';
import type { Batch } from './batches.ts';

/** Maximum number of rows named in a message. */
const maxNamed = 3;

/** Finds unusual rows in an upload. Reads the rows once and does not query the service. */
export class UploadWarnings {
  readonly #needs = new RowNeeds();
  readonly #spread = new AmountSpread();
  /** Totals by host. */
  readonly #totals = new Map<string, { orders: number; cents: number }>();
  /** Number of the first row for each product and recipient. */
  readonly #first = new Map<number, number>();
  /** Numbers of the further rows with the same product and recipient, by the hash of both. */
  readonly #further = new Map<number, number[]>();
  /** Hashes of the keys of first attempts at rows. */
  readonly #keys = new Set<number>();

  /** Rows may come in any order. */
  add(batch: Batch): void {
    for (const row of this.#needs.of(batch)) {
      this.#spread.add(row.number, row.ceiling);
      this.addKey(row.firstKey);
      this.#addTotals(new Set(row.urls.map(hostOf)), row.ceiling);
      for (const code of duplicateCodes(row)) this.#addDuplicate(code, row.number);
    }
  }

  /** @param key is the key of the first attempt at a row. */
  addKey(key: string): void {
    this.#keys.add(codeOf(key));
  }

  /** Whether a row has this key. */
  hasKey = (key: string): boolean => this.#keys.has(codeOf(key));

  #addTotals(hosts: ReadonlySet<string>, cents: number): void {
    for (const host of hosts) {
      const total = this.#totals.get(host);
      if (total) {
        total.orders += 1;
        total.cents += cents;
      } else if (this.#totals.size <= maxValues) this.#totals.set(host, { orders: 1, cents });
    }
  }

  #addDuplicate(code: number, number: number): void {
    const first = this.#first.get(code);
    if (first === undefined || number < first) this.#first.set(code, number);
    if (first === undefined) return;
    const further = this.#further.get(code) ?? [];
    this.#further.set(code, further);
    further.push(Math.max(first, number));
  }

  /** Findings to review before these rows are sent, one per line; empty if nothing stands out. */
  lines(): string[] {
    return [...this.#totalLines(), ...farLines(this.#spread), ...this.duplicateLines()];
  }

  /**
   * Lines with totals by retailer. There are none if there is a single retailer, because its total is the total of the
   * file. There are none either if there are too many hosts to form groups.
   */
  #totalLines(): string[] {
    if (this.#totals.size < 2 || this.#totals.size > maxValues) return [];
    const groups = [...this.#totals].map(([value, { orders, cents }]) => ({
      ...{ value, orders, ceilings_cents: cents },
    }));
    return [
      totalsText(
        'retailer',
        groups.sort((one, other) => other.ceilings_cents - one.ceilings_cents),
      ),
    ];
  }

  /** Rows of this file that are like an earlier row of the file. They are ordered nevertheless. */
  duplicateLines(): string[] {
    const pairs = new Map<number, number>();
    for (const [code, rows] of this.#further)
      for (const row of rows) pairs.set(row, this.#first.get(code) ?? row);
    const first = firstOf(pairs).map(([row, other]) => `row ${row} as row ${other}`);
    return first.length === 0
      ? []
      : [
          `${rowsText(pairs.size)}: same product and recipient as an earlier row; ${named(first, pairs.size)}; each is an order of its own, so take out what is there by mistake`,
        ];
  }
}

/** The first rows in order, with their values. */
const firstOf = <T>(rows: ReadonlyMap<number, T>): (readonly [number, T])[] =>
  [...rows].sort(([one], [other]) => one - other).slice(0, maxNamed);

const named = (first: readonly string[], count: number): string =>
  count > first.length ? `first ${first.join(', ')}` : first.join(', ');

/** 53-bit hash of a text, computed like MurmurHash in two lanes. Collisions are very unlikely. */
function codeOf(text: string): number {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x85ebca77);
    other = Math.imul(other ^ unit, 0xc2b2ae3d);
  }
  one ^= Math.imul(one ^ (other >>> 15), 0x735a2d97);
  other ^= Math.imul(other ^ (one >>> 15), 0xcaf649a9);
  one ^= other >>> 16;
  other ^= one >>> 16;
  return 2 ** 21 * (other >>> 0) + (one >>> 11);
}

/**
 * One hash per product, each computed over the product and the recipient. If two rows share a hash, they are
 * duplicates, apart from rare collisions.
 */
const duplicateCodes = ({ need: { products, recipient } }: RowNeed): number[] =>
  products.map((product) => codeOf(`${product}\n${recipient}`));
