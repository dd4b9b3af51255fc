import { Refusal } from '../server/refusal.ts';
import type { Store } from '../store/store.ts';

const dayMs = 24 * 3600 * 1000;

/** @throws Refusal rate_limit_exceeded with `Retry-After`, once an address has minted `perDay` keys in a day. */
export function refuseTooMany(store: Store, address: string, perDay: number, now: number): void {
  const row = store.get(
    'SELECT count(*) AS minted, min(created_at) AS first FROM api_keys WHERE minted_from = ? AND created_at > ?',
    address,
    now - dayMs,
  );
  if (Number(row?.minted) < perDay) return;
  const seconds = Math.max(1, Math.ceil((Number(row?.first) + dayMs - now) / 1000));
  throw new Refusal(
    'rate_limit_exceeded',
    `${perDay} keys a day can be minted from one address; --mint-limit of a served sandbox changes that.`,
    { limit: perDay },
    {
      'retry-after': String(seconds),
    },
  );
}
