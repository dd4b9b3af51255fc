import type { Output } from '../../api/outputs/index.ts';
import type { Row } from '../../format/result.ts';
import type { MoneyLine, MoneySum } from '../../spending/money-lines.ts';
import { amountOf } from '../../spending/report/rows.ts';
import type { ReportRow } from './rows.ts';

/** A row as every format has it. Amounts in cents of `currency`; fee, credits and what left the wallet in US dollars. Pure. */
export function recordOf(row: ReportRow): Output<'BulkReportRow'> {
  const { order, sums, quoted } = { ...row, quoted: row.order?.quoted };
  const goods = goodsOf(row);
  const wallet = walletOf(sums);
  const isPaid = sums.length > 0;
  return {
    row: row.number ?? null,
    batch_id: row.batch.id,
    index: row.row.index,
    own: Object.fromEntries(row.own.headings.map((heading, at) => [heading, row.own.cells[at] ?? ''])),
    order_state: row.state.text,
    order_id: row.orderId ?? null,
    order_status: order?.status ?? row.row.orderStatus ?? null,
    attempts: row.attempts,
    product: row.product(),
    product_urls: row.urls,
    ceiling_cents: row.ceiling ?? null,
    quoted_cents: quoted?.cents ?? null,
    charged_cents: isPaid ? (goods?.charged ?? 0) : null,
    fee_cents: isPaid ? feeOf(row) : null,
    refunded_cents: isPaid ? (goods?.refunded ?? 0) : null,
    credited_cents: isPaid ? wallet.reduce((sum, { credited }) => sum + credited, 0) : null,
    from_wallet_cents: isPaid ? wallet.reduce((sum, { net }) => sum + net, 0) : null,
    held_cents: isPaid ? (goods?.held ?? 0) : null,
    currency: goods?.currency ?? quoted?.currency ?? null,
    paid_by: goods?.payer ?? null,
    tracking_numbers: order?.tracking ?? [],
    error_type: row.errorType === '' ? null : row.errorType,
    reason: row.reason === '' ? null : row.reason,
    orders: row.orders,
    amounts: sums,
    by_rule: byRuleOf(row),
  };
}

/** The same with what the service's own results have of a row. Pure. */
export const resultOf = (row: ReportRow): Row => ({
  ...recordOf(row),
  status: statusOf(row),
  error: [row.errorType, row.reason].filter((part) => part !== '').join(': '),
});

/** In the words of the service's own results, which call a row failed whose key had an order before. */
function statusOf({ standing, row: { status } }: ReportRow): string | null {
  if (standing === 'refused') return 'failed';
  if (standing === 'waiting' || (status !== 'failed' && status !== 'pending')) return status ?? null;
  return 'placed';
}

/** What follows from rules alone, by the names of the amounts. */
const byRuleOf = ({ byRule }: ReportRow): string[] => byRule.map((what) => ruled[what]).sort();

const ruled: Readonly<Record<MoneyLine['what'], string>> = {
  ...amountOf,
  charge: 'charged_cents',
  fee: 'fee_cents',
};

/** The sum that pays for the goods of a row: its latest order's. */
export function goodsOf({ order, sums }: ReportRow): MoneySum | undefined {
  const ofPayer = sums.filter(({ payer }) => order === undefined || payer === order.payer);
  return (
    ofPayer.find(({ charged, refunded }) => charged !== 0 || refunded !== 0) ??
    ofPayer.find(({ held }) => held !== 0) ??
    ofPayer[0] ??
    sums[0]
  );
}

/** Whether a row cost something that its columns do not show: of two currencies, or of two payers. */
export const hasMore = (row: ReportRow): boolean => {
  const goods = goodsOf(row);
  return row.sums.some((sum) => sum !== goods && (sum.charged !== 0 || sum.refunded !== 0));
};

const walletOf = (sums: readonly MoneySum[]): readonly MoneySum[] =>
  sums.filter(({ payer, currency }) => payer === 'wallet' && currency === 'USD');

const feeOf = ({ sums }: ReportRow): number => sums.reduce((sum, { fee }) => sum + fee, 0);
