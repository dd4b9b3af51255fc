import type { OrderRecord } from '../orders/lifecycle/index.ts';
import type { Store } from '../store/store.ts';
import { billCurrency } from './challenge.ts';
import { paymentOfOrder } from './payments.ts';
import { receiptHeaders } from './receipt.ts';

interface Refund {
  /** As text, in the currency's minor unit, like the amounts of a challenge. */
  readonly amount: string;
  readonly currency: string;
  readonly timestamp: string;
}

/**
 * An order that was paid by challenge as its temporary key reads it: with the receipt, and what went back to the payer,
 * in `job_result` (which is open) and in the receipt.
 */
export function withRefunds(
  store: Store,
  record: OrderRecord,
): { record: OrderRecord; headers: Record<string, string> } {
  const payment = paymentOfOrder(store, record.id);
  if (!payment) return { record, headers: {} };
  const refunds = refundsOf(store, record.id);
  const headers = receiptHeaders(payment, refunds.length > 0 ? { refunds } : {});
  if (!record.job_result || refunds.length === 0) return { record, headers };
  return { record: { ...record, job_result: { ...record.job_result, refunds } }, headers };
}

/** What was paid back of an order, oldest first. */
export function refundsOf(store: Store, orderId: string): Refund[] {
  const rows = store.all(
    "SELECT at, cents FROM ledger WHERE kind = 'payout' AND order_id = ? ORDER BY seq",
    orderId,
  );
  return rows.map(({ at, cents }) => ({
    amount: String(-Number(cents)),
    currency: billCurrency,
    timestamp: new Date(Number(at)).toISOString(),
  }));
}
