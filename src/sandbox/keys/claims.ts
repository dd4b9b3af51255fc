import type { Store } from '../store.ts';

/** What becomes of a claim: the sandbox is claimed now, was claimed before, or there is none. */
export type Claiming = 'claimed' | 'claimed_before' | 'unknown';

/** Who has claimed the sandbox of a key, and the token that claims it. */
export function claimOf(store: Store, keyHash: string): { claimedBy: string | null; token: string } {
  const row = store.get('SELECT claimed_by, claim_token FROM api_keys WHERE hash = ?', keyHash);
  return {
    claimedBy: row?.claimed_by == null ? null : String(row.claimed_by),
    token: String(row?.claim_token ?? ''),
  };
}

/** Whether a token claims anything, and whether that is claimed already. */
export function claimable(store: Store, token: string): { readonly isClaimed: boolean } | undefined {
  const row = store.get('SELECT claimed_at FROM api_keys WHERE claim_token = ?', token);
  return row && { isClaimed: row.claimed_at !== null };
}

/** A human claims a sandbox; its key goes on working. */
export function claim(store: Store, token: string, email: string, now: number): Claiming {
  return store.transaction(() => {
    const found = claimable(store, token);
    if (!found) return 'unknown';
    if (found.isClaimed) return 'claimed_before';
    store.run('UPDATE api_keys SET claimed_at = ?, claimed_by = ? WHERE claim_token = ?', now, email, token);
    return 'claimed';
  });
}
