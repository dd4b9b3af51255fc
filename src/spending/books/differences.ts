import { formatMoney } from '../../format/money.ts';
import { payerAccount } from './accounts.ts';
import { centsOn, readId, readOpening, type Standing, streamName, walletAccount } from './entry.ts';
import { entryNamed } from './format.ts';

/** What is not as errand wrote it. */
export interface Difference {
  /** Of the file, from 1. */
  readonly line: number;
  /** For a person: which entry, what stands there, what was written. */
  readonly message: string;
}

/**
 * Entries of ours that no longer bring their payer what their ids say: a person has changed an amount or an account, has
 * written an entry twice, or has removed the one before it. Pure. @param entries as they stand.
 */
export function differencesIn(entries: readonly Standing[]): Difference[] {
  const streams = new Map<string, { standing: Standing; count: number; total: number }[]>();
  const found: Difference[] = [];
  let isOpened = false;
  for (const standing of entries) {
    const opening = readOpening(standing.id);
    if (opening !== undefined) {
      found.push(...compared(standing, isOpened ? 0 : opening, walletAccount, 'USD'));
      isOpened = true;
    }
    const written = readId(standing.id);
    if (!written) continue;
    const name = streamName(written.stream);
    streams.set(name, [
      ...(streams.get(name) ?? []),
      { standing, count: written.count, total: written.total },
    ]);
  }
  for (const steps of streams.values()) {
    let before = 0;
    for (const { standing, total } of steps.toSorted((a, b) => a.count - b.count)) {
      const { payer = 'wallet', currency = 'USD' } = readId(standing.id)?.stream ?? {};
      found.push(...compared(standing, before - total, payerAccount(payer, currency), currency));
      before = total;
    }
  }
  return found.sort((a, b) => a.line - b.line);
}

/** @param cents that the entry was written with. */
function compared(
  { id, line, postings }: Standing,
  cents: number,
  account: string,
  currency: string,
): Difference[] {
  const named = entryNamed(id);
  if (postings === undefined) return [{ line, message: `the amounts of ${named} cannot be read` }];
  const standing = centsOn(postings, account, currency);
  if (standing === cents) return [];
  const money = (amount: number): string => formatMoney(amount, currency);
  return [
    { line, message: `${named} brings ${account} ${money(standing)} where errand wrote ${money(cents)}` },
  ];
}
