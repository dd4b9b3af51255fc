import type { ErrorType } from '../../api/error-types.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Sealer } from '../../platform/sealer.ts';
import { retailerNamed } from '../catalogue/retailers.ts';
import { moved, nextDue } from '../orders/lifecycle/index.ts';
import type { OrderPlan, OrderRecord } from '../orders/lifecycle/types.ts';
import type { Store, StoredRow } from '../store/store.ts';

/** A managed account as stored; secrets are encrypted. */
export interface Account {
  readonly id: string;
  readonly shortId: string;
  readonly email: string;
  /** Null for default credentials, which are valid for every retailer. */
  readonly retailer: string | null;
  readonly password: string | null;
  readonly totpSecret: string | null;
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly hasForwarding: boolean;
  readonly forwardingEmail: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Finds the caller's account by short id or UUID, because orders may use either. */
export function findAccount(store: Store, userId: string, id: string): Account | undefined {
  const row = store.get(
    'SELECT * FROM accounts WHERE user_id = ? AND (short_id = ? OR id = ?)',
    userId,
    id,
    id.toLowerCase(),
  );
  return row && accountOf(row);
}

/** The caller's account at a retailer, else the default credentials, if any. */
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

/** The account as the API returns it. Says whether each secret exists, but never contains a secret. */
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

/** Key in `retailer_config`. Its value makes the account simulate a failed sign-in. */
const rehearsed = 'sandbox_outcome';
const outcomes: readonly ErrorType[] = ['login_failed', 'account_locked', 'account_verification_required'];

/**
 * Why sign-in with an account fails; undefined if sign-in succeeds. Sign-in fails if the account simulates a failure or
 * has no password. It also fails if the retailer requires a second factor, but the account has neither a two-factor
 * secret nor forwarded messages.
 */
export function accountProblem(account: Account, sealer: Sealer, twoFactor: boolean): ErrorType | undefined {
  const configured = account.config?.[rehearsed];
  const outcome = outcomes.find((known) => known === configured);
  if (outcome) return outcome;
  const opens = (sealed: string | null): boolean =>
    sealed !== null && sealer.open(sealed, account.id) !== undefined;
  if (!opens(account.password)) return 'login_failed';
  const passesSecondFactor = opens(account.totpSecret) || account.hasForwarding;
  return twoFactor && !passesSecondFactor ? 'login_failed' : undefined;
}

const open = `account_id = ? AND status IN ('pending', 'in_progress')`;

/**
 * When the last order releases an account, in ms since the epoch; `now` if no order holds the account. Call within a
 * transaction.
 */
export function freeAt(store: Store, accountId: string, now: number): number {
  const row = store.get(`SELECT max(queue_end) AS at FROM orders WHERE ${open}`, accountId);
  return Math.max(now, Number(row?.at ?? 0));
}

/**
 * Placeholder for the time at which an order releases its account. Used if the order's plan neither places nor fails
 * the order.
 */
const never = Date.parse('9990-01-01T00:00:00Z');

/** When an order's plan places or fails the order, in ms since the epoch. */
export const placingEnds = (plan: OrderPlan): number =>
  plan.find(({ kind }) => kind === 'placed' || kind === 'failed')?.at ?? never;

/**
 * Moves an account's waiting orders forward when an order ahead of them ends early, because it was cancelled or forced
 * to end. Each order's plan shifts as a whole. Call within a transaction.
 */
export function advanceAccountQueue(store: Store, accountId: string, now: number): void {
  let free = now;
  const waiting = store.all(
    `SELECT seq, status, record, plan, queue_start, queue_end FROM orders WHERE ${open} ORDER BY seq`,
    accountId,
  );
  for (const row of waiting) {
    const earlier = row.status === 'pending' ? Number(row.queue_start) - free : 0;
    if (earlier > 0) {
      // These casts are safe because the columns were written from a record and its plan.
      const record = JSON.parse(String(row.record)) as OrderRecord;
      const plan = moved(record, JSON.parse(String(row.plan)) as OrderPlan, earlier);
      store.run(
        'UPDATE orders SET plan = ?, next_due = ?, queue_start = ?, queue_end = ? WHERE seq = ?',
        JSON.stringify(plan),
        nextDue(plan),
        free,
        placingEnds(plan),
        Number(row.seq),
      );
      free = placingEnds(plan);
    } else free = Math.max(free, Number(row.queue_end));
  }
}
