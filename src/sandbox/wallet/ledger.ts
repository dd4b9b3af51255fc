import type { Store, StoredRow } from '../store/store.ts';
import type { LedgerKind } from './wallet.ts';

/** A change of a wallet's balance. */
export interface Entry {
  readonly seq: number;
  /** When the balance changed, ms since the epoch. */
  readonly at: number;
  readonly kind: LedgerKind;
  /** Change in cents; negative if money leaves the wallet. */
  readonly cents: number;
  readonly orderId: string | null;
}

export interface EntryWithBalance extends Entry {
  /** Balance after this entry, in cents. */
  readonly balance: number;
}

const columns = 'seq, at, kind, cents, order_id';

/**
 * The entries of a wallet's ledger, newest first. @param before limits the result to entries with a smaller row number.
 */
export function readLedger(
  store: Store,
  userId: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): EntryWithBalance[] {
  const entries = store
    .all(
      `SELECT ${columns} FROM ledger WHERE user_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      userId,
      before,
      limit,
    )
    .map(entryIn);
  let balance = balanceBefore(store, userId, before);
  return entries.map((entry) => {
    const after = balance;
    balance -= entry.cents;
    return { ...entry, balance: after };
  });
}

/** The wallet balance before the given entry, in cents. */
const balanceBefore = (store: Store, userId: string, before: number): number =>
  Number(
    store.get('SELECT total(cents) AS cents FROM ledger WHERE user_id = ? AND seq < ?', userId, before)
      ?.cents,
  );

/** Total per ledger kind, in cents. Kinds that never occurred are absent. */
export const totalsOf = (store: Store, userId: string): ReadonlyMap<LedgerKind, number> =>
  new Map(
    store
      .all('SELECT kind, sum(cents) AS cents FROM ledger WHERE user_id = ? GROUP BY kind', userId)
      // The cast is safe because this column is only written from a LedgerKind.
      .map(({ kind, cents }) => [String(kind) as LedgerKind, Number(cents)]),
  );

/** Ledger entries of an order, oldest first. */
export const entriesOf = (store: Store, orderId: string): Entry[] =>
  store.all(`SELECT ${columns} FROM ledger WHERE order_id = ? ORDER BY seq`, orderId).map(entryIn);

/** The orders for which money is reserved, newest first, and the total number of such orders. */
export function holdsOf(
  store: Store,
  userId: string,
  limit: number,
): {
  readonly holds: readonly { readonly orderId: string; readonly cents: number }[];
  readonly count: number;
} {
  const open = "FROM orders WHERE user_id = ? AND status IN ('pending', 'in_progress') AND reserved > 0";
  // The unary `+` makes SQLite look up the few open orders and sort them, instead of scanning all orders by time.
  const rows = store.all(`SELECT id, reserved ${open} ORDER BY +created_at DESC LIMIT ?`, userId, limit);
  const count =
    rows.length < limit ? rows.length : store.get(`SELECT count(*) AS count ${open}`, userId)?.count;
  return {
    holds: rows.map(({ id, reserved }) => ({ orderId: String(id), cents: Number(reserved) })),
    count: Number(count),
  };
}

const entryIn = (row: StoredRow): Entry => ({
  seq: Number(row.seq),
  at: Number(row.at),
  // The cast is safe because this column is only written from a LedgerKind.
  kind: String(row.kind) as LedgerKind,
  cents: Number(row.cents),
  orderId: row.order_id === null ? null : String(row.order_id),
});
