import type { Shape } from '../../api/schemas/index.ts';
import { hashKey } from '../server/caller.ts';
import { ErrorResponse, usedForm } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { lastMs } from '../store/clock.ts';
import { secretToken } from '../store/identity.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { openWallet } from '../wallet/wallet.ts';

interface Minting {
  /** Id of the key. By default, an id is generated. */
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** Client address. */
  readonly from: string;
  readonly now: number;
  /** Opening balance of the wallet, in cents. */
  readonly balance?: number | undefined;
}

interface Minted {
  readonly id: string;
  readonly userId: string;
  /** The key. It is shown only once, because only its hash is stored. */
  readonly key: string;
  readonly claimToken: string;
}

/** Creates a user with a funded wallet and a key. Must run in a transaction. */
export function mintKey(
  { store, idGenerator, config }: Service,
  { email, name, from, now, balance = config.startBalanceCents, ...given }: Minting,
): Minted {
  const userId = idGenerator.uuid('user');
  const id = given.id ?? idGenerator.uuid('key');
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
  openWallet(store, userId, idGenerator.uuid('wallet'), balance, now);
  return { id, userId, key, claimToken };
}

/** Mints a key that never expires, for the process that hosts the sandbox. @param from the address of that process. */
export function mintLastingKey(service: Service, from: string): Promise<string> {
  return service.store.transaction(() => {
    const { key } = mintKey(service, { from, now: service.clock.now() });
    service.store.run('UPDATE api_keys SET used_at = ? WHERE hash = ?', lastMs, hashKey(key));
    return key;
  });
}

const dayMs = 24 * 3600 * 1000;

/** @throws Refusal rate_limit_exceeded with `Retry-After` if the address has minted `perDay` keys within a day. */
export function refuseTooMany(store: Store, address: string, perDay: number, now: number): void {
  const row = store.get(
    'SELECT count(*) AS minted, min(created_at) AS first FROM api_keys WHERE minted_from = ? AND created_at > ?',
    address,
    now - dayMs,
  );
  if (Number(row?.minted) < perDay) return;
  const seconds = Math.max(1, Math.ceil((Number(row?.first) + dayMs - now) / 1000));
  throw new ErrorResponse(
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
  /** Creation time, ms since the epoch. */
  readonly createdAt: number;
}

const firstNumber = 1001;

/** Inserts a user and assigns the number shown in records. Must run in a transaction. */
export function insertUser(store: Store, { id, email, createdAt }: NewUser): void {
  store.run(
    `INSERT INTO users (id, email, created_at, number) VALUES (?, ?, ?, (SELECT coalesce(max(number) + 1, ?) FROM users))`,
    id,
    email,
    createdAt,
    firstNumber,
  );
}

/** The user's number as shown in records. */
export const userNumber = (store: Store, userId: string): number =>
  store.lasting(`number of ${userId}`, () =>
    Number(store.get('SELECT number FROM users WHERE id = ?', userId)?.number),
  );

/** Result of a claim: claimed now, already claimed, or unknown token. */
type Claiming = 'claimed' | 'claimed_before' | 'unknown';

interface Claimed {
  readonly by: string;
  /** Time of the claim, ms since the epoch. */
  readonly at: number;
}

/** Returns who has claimed the sandbox of a key, if anyone, and the claim token of that sandbox. */
export function claimOf(store: Store, keyHash: string): { claimed: Claimed | null; token: string } {
  const row = store.get('SELECT claimed_by, claimed_at, claim_token FROM api_keys WHERE hash = ?', keyHash);
  return { claimed: claimedIn(row), token: String(row?.claim_token ?? '') };
}

/**
 * Looks up who, if anyone, has claimed the sandbox that a claim token belongs to. Returns undefined for an unknown
 * token.
 */
export function claimable(store: Store, token: string): { readonly claimed: Claimed | null } | undefined {
  const row = store.get('SELECT claimed_by, claimed_at FROM api_keys WHERE claim_token = ?', token);
  return row && { claimed: claimedIn(row) };
}

const claimedIn = (row: StoredRow | undefined): Claimed | null =>
  row?.claimed_at == null ? null : { by: String(row.claimed_by), at: Number(row.claimed_at) };

/** Records a human's claim on a sandbox. The sandbox's key keeps working. */
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
  /** This id is generated with the form, so that resubmitting the form does not mint a second key. */
  readonly id: string;
  readonly name: string | null;
  /** Client address. */
  readonly from: string;
  /** Creation time, ms since the epoch. */
  readonly now: number;
}

interface Shown {
  readonly key: string;
  readonly userId: string;
}

/** For how long a resubmitted form still returns its key, in ms. This covers a double-click, but not a later visit. */
const shownAgainMs = 60_000;

/**
 * Keys minted by recently submitted forms, by form id. The keys exist only in memory, because the store contains only
 * the hashes of keys.
 */
const recent = new WeakMap<Store, Map<string, Shown & { readonly at: number }>>();

/**
 * Mints a key from a form. Resubmitting the form returns the same key.
 * @returns undefined if the key can no longer be shown, or if another server minted the key.
 * @throws Refusal rate_limit_exceeded; already_exists if the form was resubmitted with another name.
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

/** An example order that succeeds. It has no idempotency key. @param shopUrl base URL of the test products. */
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
