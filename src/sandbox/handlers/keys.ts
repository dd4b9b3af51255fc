import { limits } from '../../contract/limits.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { hashKey } from '../caller.ts';
import type { SandboxConfig } from '../config.ts';
import type { Handlers } from '../handler.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store.ts';
import { openWallet } from '../wallet.ts';

const dayMs = 24 * 3600 * 1000;

export const keyHandlers: Handlers = {
  'sandbox.mint': ({ store, identity, config }, { body, request, now }) => {
    const { key, claimToken } = store.transaction(() => {
      refuseTooMany(store, request.remoteAddress, config.mintLimitPerDay, now);
      const userId = identity.uuid('user');
      const key = `${config.prefix}_test_${identity.token('key', 32)}`;
      const claimToken = identity.token('claim', 24);
      store.run(
        'INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)',
        userId,
        body.email ?? null,
        now,
      );
      store.run(
        `INSERT INTO api_keys (hash, user_id, id, name, claim_token, minted_from, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        hashKey(key),
        userId,
        identity.uuid('key'),
        body.name ?? null,
        claimToken,
        request.remoteAddress,
        now,
        now,
      );
      openWallet(store, userId, identity.uuid('wallet'), config.startBalanceCents, now);
      return { key, claimToken };
    });
    return { value: mintedKey(config, key, claimToken) };
  },

  'sandbox.status': ({ store, config }, { caller }) => {
    const row = store.get(
      'SELECT claimed_at, claimed_by, claim_token FROM api_keys WHERE hash = ?',
      caller.keyHash,
    );
    const claimed = row?.claimed_at !== null && row?.claimed_at !== undefined;
    const hint = claimed
      ? null
      : `Sign in at ${config.baseUrl}/claim/${row?.claim_token} to claim this sandbox.`;
    return { value: { claimed, claimed_by_email: claimed ? String(row.claimed_by) : null, hint } };
  },
};

function refuseTooMany(store: Store, address: string, perDay: number, now: number): void {
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

function mintedKey(
  { baseUrl, shopUrl }: SandboxConfig,
  key: string,
  claimToken: string,
): Shape<'SandboxKey'> {
  const days = limits.sandboxKeyIdleSeconds / 86_400;
  return {
    api_key: key,
    key,
    expires_policy: `expires after ${days} days without use`,
    quickstart_url: `${baseUrl}/`,
    example_order: {
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
    },
    claim_url: `${baseUrl}/claim/${claimToken}`,
    next: [
      'POST /orders with example_order places a first order.',
      'GET /orders/{order_id} follows it: delivered in about ten seconds.',
      'GET /orders/test-products lists the products that rehearse other outcomes.',
    ],
  };
}
