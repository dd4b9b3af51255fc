import type { Shape } from '../../api/schemas/index.ts';
import { retailerNamed } from '../catalogue/retailers.ts';
import type { Store, StoredRow } from '../store/store.ts';

/** A managed account as the store keeps it; secrets are sealed. */
export interface Account {
  readonly id: string;
  readonly shortId: string;
  readonly email: string;
  /** Null: default credentials, for every retailer. */
  readonly retailer: string | null;
  readonly password: string | null;
  readonly totpSecret: string | null;
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly hasForwarding: boolean;
  readonly forwardingEmail: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The caller's account of a short id, or of its UUID: orders may name either. */
export function findAccount(store: Store, userId: string, id: string): Account | undefined {
  const row = store.get(
    'SELECT * FROM accounts WHERE user_id = ? AND (short_id = ? OR id = ?)',
    userId,
    id,
    id.toLowerCase(),
  );
  return row && accountOf(row);
}

/** The caller's account for a retailer's store; else the default credentials, if there are any. */
export function accountFor(store: Store, userId: string, retailer: string | null): Account | undefined {
  const row = store.get(
    'SELECT * FROM accounts WHERE user_id = ? AND (retailer IS NULL OR retailer = ?) ORDER BY retailer IS NULL, seq LIMIT 1',
    userId,
    retailer,
  );
  return row && accountOf(row);
}

export function accountOf(row: StoredRow): Account {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return {
    id: String(row.id),
    shortId: String(row.short_id),
    email: String(row.email),
    retailer: text(row.retailer),
    password: text(row.password),
    totpSecret: text(row.totp_secret),
    config: row.retailer_config === null ? null : JSON.parse(String(row.retailer_config)),
    hasForwarding: row.forwarded_at !== null,
    forwardingEmail: String(row.forwarding_email),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

/** The account as the service shows it: never a secret, only whether there is one. */
export function shownAccount(store: Store, account: Account, now: number): Shape<'ManagedAccount'> {
  const holder = store.get(
    `SELECT id FROM orders WHERE account_id = ? AND status IN ('pending', 'in_progress') AND queue_start <= ? ORDER BY seq LIMIT 1`,
    account.id,
    now,
  );
  const used = store.get(
    'SELECT max(queue_start) AS at FROM orders WHERE account_id = ? AND queue_start <= ?',
    account.id,
    now,
  );
  const iso = (at: number): string => new Date(at).toISOString();
  return {
    id: account.id,
    short_id: account.shortId,
    email: account.email,
    retailer: account.retailer,
    retailer_id: account.retailer === null ? null : (retailerNamed(account.retailer)?.number ?? null),
    has_totp: account.totpSecret !== null,
    has_forwarding: account.hasForwarding,
    retailer_config: account.config && { ...account.config },
    forwarding_email: account.forwardingEmail,
    is_paused: false,
    locked_by_job_id: holder ? String(holder.id) : null,
    cooldown_minutes: null,
    last_used_at: used?.at == null ? null : iso(Number(used.at)),
    created_at: iso(account.createdAt),
    updated_at: iso(account.updatedAt),
  };
}
