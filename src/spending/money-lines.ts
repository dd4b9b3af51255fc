import { UnavailableError } from '../http/errors.ts';

export type Payer = 'wallet' | 'card' | 'connect' | 'retailer_account' | 'challenge';

export interface MoneyLine {
  readonly what: 'hold' | 'charge' | 'fee' | 'refund' | 'credit';
  /** Signed amount. */
  readonly cents: number;
  /** ISO 4217 code in capitals. If the service sends any other text, that text. */
  readonly currency: string;
  /** Who pays the amount or receives the refund. */
  readonly payer: Payer;
  /** `by_rule` means that the amount was inferred from the service's rules, because the service does not report it. */
  readonly basis: 'observed' | 'by_rule';
  /** A description for the user. */
  readonly note: string;
  /** The return to which the line belongs. */
  readonly returnId?: string;
}

export interface MoneySum {
  readonly payer: Payer;
  readonly currency: string;
  readonly held: number;
  readonly charged: number;
  readonly fee: number;
  /** Refunded part of the charge, as a positive amount. */
  readonly refunded: number;
  /** Credits for returns, as a positive amount. */
  readonly credited: number;
  /** Net cost: charge plus fee, minus refunds and credits. */
  readonly net: number;
}

export interface MoneyDue {
  readonly what: 'refund' | 'credit';
  /** The amount; undefined if the service does not report it. */
  readonly cents: number | undefined;
  readonly currency: string;
  readonly payer: Payer;
  readonly note: string;
  readonly returnId?: string;
}

/** Sums lines per payer and currency. Pure. */
export function sumsOf(lines: readonly MoneyLine[]): MoneySum[] {
  const totals = new Map<string, Writable<MoneySum>>();
  for (const { what, cents, payer, currency } of lines) {
    const key = `${payer} ${currency}`;
    const total = totals.get(key) ?? emptySum(payer, currency);
    totals.set(key, total);
    const { field, sign } = parts[what];
    total[field] += sign * cents;
    if (what !== 'hold') total.net += cents;
  }
  return [...totals.values()];
}

/** Written field by field: there is one for each order, and V8 makes such an object much faster than one with a spread. */
const emptySum = (payer: Payer, currency: string): Writable<MoneySum> => ({
  payer,
  currency,
  held: 0,
  charged: 0,
  fee: 0,
  refunded: 0,
  credited: 0,
  net: 0,
});

/**
 * For each kind of line, the field to which it is added, and the sign with which it is added. In these fields, returned
 * money counts as positive.
 */
const parts = {
  hold: { field: 'held', sign: 1 },
  charge: { field: 'charged', sign: 1 },
  fee: { field: 'fee', sign: 1 },
  refund: { field: 'refunded', sign: -1 },
  credit: { field: 'credited', sign: -1 },
} as const;

/**
 * Adds up the sums of several orders per payer and currency. Sums paid by the wallet come first. Pure.
 * @throws UnavailableError if an amount is too large for a number.
 */
export function addedSums(sums: Iterable<MoneySum>): MoneySum[] {
  const totals = new Map<string, Writable<MoneySum>>();
  for (const sum of sums) {
    const key = `${sum.payer} ${sum.currency}`;
    const total = totals.get(key);
    if (!total) {
      totals.set(key, { ...sum });
      continue;
    }
    for (const amount of amounts) total[amount] += sum[amount];
    if (!amounts.every((amount) => Number.isSafeInteger(total[amount]))) throw tooMuch();
  }
  return [...totals.values()].sort(walletFirst);
}

const amounts = ['held', 'charged', 'fee', 'refunded', 'credited', 'net'] as const;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export const tooMuch = (): UnavailableError =>
  new UnavailableError('the amounts of these orders add up to more than can be counted exactly', {
    retryable: false,
  });

interface PaidIn {
  readonly payer: Payer;
  readonly currency: string;
}

const walletFirst = (one: PaidIn, other: PaidIn): number =>
  Number(other.payer === 'wallet') - Number(one.payer === 'wallet') ||
  compare(one.payer, other.payer) ||
  compare(one.currency, other.currency);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
