import { StorageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { AmountSpread, farLines } from './amount-spread.ts';
import type { Batch } from './batches.ts';
import { earlierRows } from './earlier-rows.ts';
import type { FileCheck } from './file-check.ts';
import { keptKeys, keptLines } from './kept-keys.ts';
import { mostValues, totalsText } from './plan/totals.ts';
import { CellReader, codeOf, hostsOf, placeOf, twinCodes, urlsIn } from './row-cells.ts';
import { rowsText } from './spend.ts';

/** Rows that are named. */
const mostNamed = 3;

/** What stands out in the rows of an upload, gathered as they pass by; looks at none of them twice and asks nothing of the service. */
export class UploadLook {
  /** Numbers of the rows that keep the key of an order with other content, once `lines` has told of them. */
  readonly keptRows = new Set<number>();
  readonly #spread = new AmountSpread();
  readonly #cells = new CellReader();
  /** By host. */
  readonly #totals = new Map<string, { orders: number; cents: number }>();
  /** The number of the row of each product that goes to a place; of several the first. */
  readonly #first = new Map<number, number>();
  /** Further rows with the same product for the same place. */
  readonly #further = new Map<number, number[]>();
  /** The number of the row of each idempotency key. */
  readonly #keys = new Map<number, number>();
  /** Of the cells of each row, where keys of the file's own make it matter. */
  readonly #cellCodes = new Map<number, number>();
  #hasOwnKeys = false;

  /** Rows may come in any order. @param hasOwnKeys whether any row of the file has a key of its own. */
  add({ rows, numbers }: Pick<Batch, 'rows' | 'numbers'>, hasOwnKeys: boolean): void {
    this.#hasOwnKeys = hasOwnKeys;
    for (const [index, row] of rows.entries()) {
      const number = numbers[index] ?? 0;
      const cell = this.#cells.read(row);
      const cents = Number(cell('max_price'));
      const urls = urlsIn(cell);
      this.#spread.add(number, cents);
      this.#keys.set(codeOf(cell('idempotency_key')), number);
      if (hasOwnKeys) this.#cellCodes.set(number, codeOf(JSON.stringify(row)));
      this.#addTotals(hostsOf(urls), cents);
      for (const code of twinCodes(urls, placeOf(cell))) this.#addTwin(code, number);
    }
  }

  #addTotals(hosts: readonly string[], cents: number): void {
    for (const host of hosts) {
      const total = this.#totals.get(host);
      if (total) {
        total.orders += 1;
        total.cents += cents;
      } else if (this.#totals.size <= mostValues) this.#totals.set(host, { orders: 1, cents });
    }
  }

  #addTwin(code: number, number: number): void {
    const first = this.#first.get(code);
    if (first === undefined || number < first) this.#first.set(code, number);
    if (first === undefined) return;
    const further = this.#further.get(code) ?? [];
    this.#further.set(code, further);
    further.push(Math.max(first, number));
  }

  /** What somebody should see before these rows are sent, a line each; none where nothing stands out. */
  async lines(context: Context, check: FileCheck): Promise<string[]> {
    return [
      ...this.#totalLines(),
      ...farLines(this.#spread),
      ...this.#twinLines(),
      ...(await this.#earlierLines(context, check)),
    ];
  }

  /** One retailer's total is that of the file; a file with a host for each order has no groups. */
  #totalLines(): string[] {
    if (this.#totals.size < 2 || this.#totals.size > mostValues) return [];
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

  #twinLines(): string[] {
    const pairs = new Map<number, number>();
    for (const [code, rows] of this.#further)
      for (const row of rows) pairs.set(row, this.#first.get(code) ?? row);
    const first = firstOf(pairs).map(([row, other]) => `row ${row} as row ${other}`);
    return first.length === 0
      ? []
      : [`${rowsText(pairs.size)}: same product and address as an earlier row; ${named(first, pairs.size)}`];
  }

  async #earlierLines(context: Context, check: FileCheck): Promise<string[]> {
    try {
      const { twins, sent, nameOf } = await earlierRows(context, {
        hasOwnKeys: this.#hasOwnKeys,
        cellsOf: (row) => this.#cellCodes.get(row),
        rowOfKey: (key) => this.#keys.get(codeOf(key)),
        rowsOf: (code) => {
          const first = this.#first.get(code);
          return first === undefined ? [] : [first, ...(this.#further.get(code) ?? [])];
        },
      });
      const edited = [...sent].filter(([, before]) => before.some(({ content }) => content !== undefined));
      const found = edited.length === 0 ? undefined : await keptKeys(context, new Map(edited), check.valid());
      const kept = found ? keptLines(found) : [];
      for (const { row } of found?.ordered ?? []) this.keptRows.add(row);
      const [first] = firstOf(twins);
      if (!first) return kept;
      const [row, twin] = first;
      const start = twins.size > 1 ? 'first ' : '';
      return [
        `${rowsText(twins.size)}: same product and address as an order of the last week; ${start}row ${row} as ${await nameOf(twin)}`,
        ...kept,
      ];
    } catch (error) {
      // What cannot be read now stops the upload itself, with a message of its own.
      if (error instanceof StorageError) return [];
      throw error;
    }
  }
}

/** The uppermost rows, each with what is known of it. */
const firstOf = <T>(rows: ReadonlyMap<number, T>): (readonly [number, T])[] =>
  [...rows].sort(([one], [other]) => one - other).slice(0, mostNamed);

const named = (first: readonly string[], count: number): string =>
  count > first.length ? `first ${first.join(', ')}` : first.join(', ');
