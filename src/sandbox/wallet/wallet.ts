import { maxSandboxWalletCents } from '../../api/limits.ts';
import { ErrorResponse, usedForm } from '../server/refusal.ts';
import type { Store } from '../store/store.ts';

/** Reason for a change of the balance. `payment` and `payout` occur for orders paid by challenge. */
export type LedgerKind =
  | 'opening'
  | 'funding'
  | 'withdrawal'
  | 'purchase'
  | 'fee'
  | 'refund'
  | 'credit'
  | 'reversal'
  | 'payment'
  | 'payout';

export interface Wallet {
  readonly id: string;
  readonly balance: number;
  /** The balance minus the amount that pending orders may still cost. */
  readonly spendable: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Opens a wallet with an opening ledger entry. Must run in a transaction. */
export function openWallet(store: Store, userId: string, id: string, cents: number, now: number): void {
  store.run(
    'INSERT INTO wallets (user_id, id, balance, created_at, updated_at) VALUES (?, ?, 0, ?, ?)',
    userId,
    id,
    now,
    now,
  );
  enter(store, userId, 'opening', cents, now, null);
}

export function walletOf(store: Store, userId: string): Wallet {
  const row = store.get('SELECT * FROM wallets WHERE user_id = ?', userId);
  if (!row) throw new Error(`user ${userId} has no wallet`);
  const balance = Number(row.balance);
  return {
    id: String(row.id),
    balance,
    spendable: balance - Number(row.reserved),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

/**
 * Adds a ledger entry and updates the balance, which is the sum of all entries. An amount that leaves the wallet is
 * negative. Must run in a transaction.
 */
export function enter(
  store: Store,
  userId: string,
  kind: LedgerKind,
  cents: number,
  now: number,
  orderId: string | null,
): void {
  if (cents === 0) return;
  store.run(
    'INSERT INTO ledger (user_id, at, kind, cents, order_id) VALUES (?, ?, ?, ?, ?)',
    userId,
    now,
    kind,
    cents,
    orderId,
  );
  store.run(
    'UPDATE wallets SET balance = balance + ?, updated_at = max(updated_at, ?) WHERE user_id = ?',
    cents,
    now,
    userId,
  );
}

/**
 * Adds `cents` to a wallet. Must run in a transaction. @param once is an idempotency key. A call that repeats the key
 * adds nothing. @returns the balance in cents. @throws Refusal bad_request if the wallet cannot hold that much.
 */
export function fund(
  store: Store,
  userId: string,
  cents: number,
  now: number,
  once: string | null = null,
): number {
  const { balance } = walletOf(store, userId);
  const done =
    once === null
      ? undefined
      : store.get('SELECT cents FROM ledger WHERE user_id = ? AND note = ?', userId, once);
  if (done?.cents === cents) return balance;
  if (done) throw usedForm('added money');
  const maxCents = maxSandboxWalletCents - balance;
  if (cents > maxCents)
    throw new ErrorResponse('bad_request', `At most ${maxCents} cents fit into the wallet.`);
  enter(store, userId, 'funding', cents, now, null);
  if (once !== null)
    store.run(
      'UPDATE ledger SET note = ? WHERE seq = (SELECT max(seq) FROM ledger WHERE user_id = ?)',
      once,
      userId,
    );
  return balance + cents;
}

/**
 * Withdraws all unreserved money. Must run in a transaction. @returns the withdrawn amount and the remaining balance,
 * both in cents.
 */
export function empty(store: Store, userId: string, now: number): { taken: number; balance: number } {
  const { balance, spendable } = walletOf(store, userId);
  enter(store, userId, 'withdrawal', -spendable, now, null);
  return { taken: spendable, balance: balance - spendable };
}

/** Reserves `cents` for an order, so concurrent orders cannot spend the same money. Must run in a transaction. */
export function reserve(store: Store, userId: string, cents: number): void {
  store.run('UPDATE wallets SET reserved = reserved + ? WHERE user_id = ?', cents, userId);
}

/** The option to lower `max_price`, so that less money is reserved. Offered when the wallet pays for the goods. */
export const lowerCeiling = {
  rail: 'lower_max_price',
  message: 'Lower max_price to what the wallet can cover.',
};

/** @throws Refusal insufficient_funds with `required`, `available`, and all options in `fund_with`. */
export function requireFunds(
  available: number,
  required: number,
  rails: readonly Readonly<Record<string, unknown>>[],
): void {
  if (available >= required) return;
  throw insufficientFunds(available, required, rails);
}

export function insufficientFunds(
  available: number,
  required: number,
  rails: readonly Readonly<Record<string, unknown>>[],
): ErrorResponse {
  return new ErrorResponse('insufficient_funds', 'The wallet cannot cover this.', {
    required,
    available,
    fund_with: [
      ...rails,
      {
        rail: 'sandbox_funding',
        message: `Fund this sandbox: errand sandbox trigger wallet-funded --amount-cents ${required - available}`,
      },
      { rail: 'sandbox_key', message: 'Mint another sandbox key: each begins with a full wallet.' },
    ],
  });
}
