import type { Shape } from '../../api/schemas/index.ts';
import { hashKey } from '../server/caller.ts';
import { Refusal, usedForm } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { lastMs } from '../store/clock.ts';
import { secretToken } from '../store/identity.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { openWallet } from '../wallet/wallet.ts';

interface Minting {
  /** In place of a new one each. */
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** Address that requested it. */
  readonly from: string;
  readonly now: number;
  /** What its wallet opens with, cents. */
  readonly balance?: number | undefined;
}

interface Minted {
  readonly id: string;
  readonly userId: string;
  /** Shown once; only its hash is kept. */
  readonly key: string;
  readonly claimToken: string;
}

/** Makes a user of its own with a full wallet, and a key for it. Within a transaction. */
export function mintKey(
  { store, identity, config }: Service,
  { email, name, from, now, balance = config.startBalanceCents, ...given }: Minting,
): Minted {
  const userId = identity.uuid('user');
  const id = given.id ?? identity.uuid('key');
  const key = given.key ?? `${config.prefix}_test_${secretToken(32)}`;
  const claimToken = secretToken(24);
  insertUser(store, { id: userId, email: email ?? null, createdAt: now });
  store.run(
    `INSERT INTO api_keys (hash, user_id, id, name, claim_token, minted_from, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    hashKey(key),
    userId,
    id,
    name ?? null,
    claimToken,
    from,
    now,
    now,
  );
  openWallet(store, userId, identity.uuid('wallet'), balance, now);
  return { id, userId, key, claimToken };
}

/** Mints a key that no time makes expire, for the process that the sandbox runs in. @param from its address. */
export function mintLastingKey(service: Service, from: string): Promise<string> {
  return service.store.transaction(() => {
    const { key } = mintKey(service, { from, now: service.clock.now() });
    service.store.run('UPDATE api_keys SET used_at = ? WHERE hash = ?', lastMs, hashKey(key));
    return key;
  });
}

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

interface NewUser {
  readonly id: string;
  readonly email: string | null;
  /** ms since the epoch. */
  readonly createdAt: number;
}

const firstNumber = 1001;

/** Keeps a new user, with the number that records show of it. Within a transaction. */
export function insertUser(store: Store, { id, email, createdAt }: NewUser): void {
  store.run(
    `INSERT INTO users (id, email, created_at, number) VALUES (?, ?, ?, (SELECT coalesce(max(number) + 1, ?) FROM users))`,
    id,
    email,
    createdAt,
    firstNumber,
  );
}

/** The number that records show of a user. */
export const userNumber = (store: Store, userId: string): number =>
  store.lasting(`number of ${userId}`, () =>
    Number(store.get('SELECT number FROM users WHERE id = ?', userId)?.number),
  );

/** What becomes of a claim: the sandbox is claimed now, was claimed before, or there is none. */
type Claiming = 'claimed' | 'claimed_before' | 'unknown';

interface Claimed {
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

interface Form {
  /** Made with the form, so that a form that is sent twice mints one key. */
  readonly id: string;
  readonly name: string | null;
  /** Address that it came from. */
  readonly from: string;
  /** ms since the epoch. */
  readonly now: number;
}

interface Shown {
  readonly key: string;
  readonly userId: string;
}

/** How long a form that is sent again gets the key that it minted: a double click, not a visit tomorrow. ms. */
const shownAgainMs = 60_000;

/** Keys of forms that were just sent, by the form. In memory alone, since only the hash of a key is kept. */
const recent = new WeakMap<Store, Map<string, Shown & { readonly at: number }>>();

/**
 * Mints the key of a form. Who sends the form twice gets the same key.
 * @returns undefined once it is too late to see it again, or where another server has shown it.
 * @throws Refusal rate_limit_exceeded, already_exists where it has another name now.
 */
export function mintByForm(service: Service, { id, name, from, now }: Form): Promise<Shown | undefined> {
  const { store, config } = service;
  const keys = recent.get(store) ?? new Map<string, Shown & { at: number }>();
  recent.set(store, keys);
  for (const [form, { at }] of keys) if (Math.abs(now - at) > shownAgainMs) keys.delete(form);
  return store.transaction(() => {
    const minted = store.get('SELECT name FROM api_keys WHERE id = ?', id);
    if (minted) {
      const shown = keys.get(id);
      if (shown && minted.name !== name) throw usedForm('minted a key');
      return shown;
    }
    refuseTooMany(store, from, config.mintLimitPerDay, now);
    const { key, userId } = mintKey(service, { id, name, from, now });
    keys.set(id, { key, userId, at: now });
    return { key, userId };
  });
}

/** An order that succeeds, without a key of its own. @param shopUrl where the test products are. */
export const exampleOrder = (shopUrl: string): Shape<'OrderCreate'> => ({
  products: [{ url: `${shopUrl}/test-success`, quantity: 1 }],
  shipping_address: {
    first_name: 'Ada',
    last_name: 'Example',
    address_line1: '100 Congress Avenue',
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
    country: 'US',
    phone_number: '5125550100',
  },
  max_price: 5_000,
});
