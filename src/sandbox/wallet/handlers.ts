import { userNumber } from '../keys/keys.ts';
import type { AllHandlers } from '../server/handler.ts';
import type { Store } from '../store/store.ts';
import { walletOf } from './wallet.ts';

const dayMs = 24 * 3600 * 1000;
const iso = (ms: number): string => new Date(ms).toISOString();

export const moneyHandlers = {
  'wallet.get': ({ store, config }, { caller }) => {
    const wallet = walletOf(store, caller.userId);
    return {
      value: {
        id: wallet.id,
        user_id: userNumber(store, caller.userId),
        balance: wallet.balance,
        wallet_type: 'purchases',
        created_at: iso(wallet.createdAt),
        updated_at: iso(wallet.updatedAt),
        spendable_balance: wallet.spendable,
        order_fee_cents: config.orderFeeCents,
        billed_by_invoice: false,
      },
    };
  },

  'usage.get': ({ store }, { caller, query, now }) => {
    const days = query.window_days;
    const since = now - days * dayMs;
    const names = store.all(
      'SELECT DISTINCT endpoint FROM calls WHERE user_id = ? AND at > ?',
      caller.userId,
      since - days * dayMs,
    );
    const metrics = Object.fromEntries(
      names.map(({ endpoint }) => [
        String(endpoint),
        metric(store, caller.userId, String(endpoint), since, days),
      ]),
    );
    return {
      value: {
        window_days: days,
        since: iso(since),
        metrics,
        recent: recent(store, caller.userId, query.recent),
      },
    };
  },
} satisfies Partial<AllHandlers>;

function metric(store: Store, userId: string, endpoint: string, since: number, days: number) {
  const rows = store.all(
    'SELECT CAST(min((at - ?) / ?, ?) AS INTEGER) AS day, count(*) AS calls FROM calls WHERE user_id = ? AND endpoint = ? AND at > ? GROUP BY day',
    since,
    dayMs,
    days - 1,
    userId,
    endpoint,
    since,
  );
  const perDay = new Map(rows.map(({ day, calls }) => [Number(day), Number(calls)]));
  const series = Array.from({ length: days }, (_, day) => perDay.get(day) ?? 0);
  const before = store.get(
    'SELECT count(*) AS calls FROM calls WHERE user_id = ? AND endpoint = ? AND at > ? AND at <= ?',
    userId,
    endpoint,
    since - days * dayMs,
    since,
  );
  return {
    total: series.reduce((sum, calls) => sum + calls, 0),
    prev_total: Number(before?.calls ?? 0),
    series,
  };
}

function recent(store: Store, userId: string, limit: number) {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return store
    .all('SELECT * FROM calls WHERE user_id = ? ORDER BY at DESC, seq DESC LIMIT ?', userId, limit)
    .map((row) => ({
      endpoint: String(row.endpoint),
      at: iso(Number(row.at)),
      query: text(row.query),
      result_count: row.result_count === null ? null : Number(row.result_count),
      retailer: text(row.retailer),
      product_id: text(row.product_id),
    }));
}
