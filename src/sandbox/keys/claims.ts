import type { Store, StoredRow } from '../store/store.ts';

/** What becomes of a claim: the sandbox is claimed now, was claimed before, or there is none. */
export type Claiming = 'claimed' | 'claimed_before' | 'unknown';

export interface Claimed {
  readonly by: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** Who has claimed the sandbox of a key, and the token that claims it. */
export function claimOf(store: Store, keyHash: string): { claimed: Claimed | null; token: string } {
  const row = store.get('SELECT claimed_by, claimed_at, claim_token FROM api_keys WHERE hash = ?', keyHash);
  return { claimed: claimedIn(row), token: String(row?.claim_token ?? '') };
}

/** What a token claims: whether it is claimed already, and by whom; undefined for a token of nothing. */
export function claimable(store: Store, token: string): { readonly claimed: Claimed | null } | undefined {
  const row = store.get('SELECT claimed_by, claimed_at FROM api_keys WHERE claim_token = ?', token);
  return row && { claimed: claimedIn(row) };
}

const claimedIn = (row: StoredRow | undefined): Claimed | null =>
  row?.claimed_at == null ? null : { by: String(row.claimed_by), at: Number(row.claimed_at) };

/** A human claims a sandbox; its key goes on working. */
export function claim(store: Store, token: string, email: string, now: number): Promise<Claiming> {
  return store.transaction((): Claiming => {
    const found = claimable(store, token);
    if (!found) return 'unknown';
    if (found.claimed) return 'claimed_before';
    store.run('UPDATE api_keys SET claimed_at = ?, claimed_by = ? WHERE claim_token = ?', now, email, token);
    return 'claimed';
  });
}
