import type { Store, StoredRow } from '../store/store.ts';
import type { LedgerKind } from './wallet.ts';

/** One change of a wallet. */
export interface Entry {
  readonly seq: number;
  /** ms since the epoch. */
  readonly at: number;
  readonly kind: LedgerKind;
  /** Negative where they left the wallet. */
  readonly cents: number;
  readonly orderId: string | null;
}

export interface EntryWithBalance extends Entry {
  /** The wallet right after it, cents. */
  readonly balance: number;
}

const columns = 'seq, at, kind, cents, order_id';

/** What changed a wallet, newest first. @param before entries below a number of the store. */
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

/** The wallet before an entry of that number, cents. */
const balanceBefore = (store: Store, userId: string, before: number): number =>
  Number(
    store.get('SELECT total(cents) AS cents FROM ledger WHERE user_id = ? AND seq < ?', userId, before)
      ?.cents,
  );

/** What each kind of change comes to, cents; kinds that never happened are missing. */
export const totalsOf = (store: Store, userId: string): ReadonlyMap<LedgerKind, number> =>
  new Map(
    store
      .all('SELECT kind, sum(cents) AS cents FROM ledger WHERE user_id = ? GROUP BY kind', userId)
      // The column is written from a kind.
      .map(({ kind, cents }) => [String(kind) as LedgerKind, Number(cents)]),
  );

/** What an order moved, oldest first. */
export const entriesOf = (store: Store, orderId: string): Entry[] =>
  store.all(`SELECT ${columns} FROM ledger WHERE order_id = ? ORDER BY seq`, orderId).map(entryIn);

/** The orders that money is set aside for, newest first, and how many they are. */
export function holdsOf(
  store: Store,
  userId: string,
  limit: number,
): {
  readonly holds: readonly { readonly orderId: string; readonly cents: number }[];
  readonly count: number;
} {
  const open = "FROM orders WHERE user_id = ? AND status IN ('pending', 'in_progress') AND reserved > 0";
  // By its sign SQLite looks for the few that are open, and sorts those, in place of walking through all by their time.
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
  // The column is written from a kind.
  kind: String(row.kind) as LedgerKind,
  cents: Number(row.cents),
  orderId: row.order_id === null ? null : String(row.order_id),
});
