import {
  type Entry,
  openingAccount,
  openingId,
  payerAccount,
  type WrittenBooks,
} from '../accounting/entries.ts';
import type { BooksFormat, Rendered } from '../accounting/files.ts';

interface Kept {
  readonly at: number;
  readonly text: string;
}

/** Entries as they come, rendered at once and put in the order of time at the end; memory grows with them. */
export class Collection {
  readonly #format: BooksFormat;
  readonly #written: WrittenBooks;
  readonly #kept: Kept[] = [];
  readonly #accounts = new Set<string>();
  readonly #currencies = new Set<string>();
  /** Entries that the format has no place for. */
  leftOut = 0;

  constructor(format: BooksFormat, written: WrittenBooks) {
    this.#format = format;
    this.#written = written;
  }

  get count(): number {
    return this.#kept.length;
  }

  /** ms since the epoch; undefined where there is none. */
  get firstAt(): number | undefined {
    return this.#kept.reduce<number | undefined>(
      (first, { at }) => ((first ?? at) < at ? first : at),
      undefined,
    );
  }

  add(entry: Entry): void {
    if (!this.#format.takes(entry)) {
      this.leftOut += 1;
      return;
    }
    this.#written.take(entry);
    this.#kept.push({ at: entry.at, text: this.#format.render(entry) });
    for (const { account, currency } of entry.postings) {
      this.#accounts.add(account);
      this.#currencies.add(currency);
    }
  }

  rendered(): Rendered {
    const texts = this.#kept.sort((a, b) => a.at - b.at).map(({ text }) => text);
    return { texts, accounts: this.#accounts, currencies: this.#currencies };
  }
}

/** What the wallet held before the first entry, of which the time is given. */
export const openingEntry = (cents: number, at: number, date: string): Entry => ({
  ...{ id: openingId(cents), kind: 'opening', at: at - 1, date },
  payee: 'Opening balance',
  text: 'what the wallet held before',
  isByRule: false,
  postings: [
    { account: payerAccount('wallet', 'USD'), cents, currency: 'USD' },
    { account: openingAccount, cents: -cents, currency: 'USD' },
  ],
});
