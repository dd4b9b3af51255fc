import { hashKey } from '../server/caller.ts';
import type { Service } from '../server/service.ts';
import { lastMs } from '../store/clock.ts';
import { secretToken } from '../store/identity.ts';
import { openWallet } from '../wallet/wallet.ts';
import { insertUser } from './users.ts';

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
