import { numberIn, textIn } from '../../api/json.ts';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { moneyOf } from '../money-of-order.ts';
import type { FoundOrder, RecordedIntent } from './chain-facts.ts';

/**
 * A recorded wallet balance, and how much orders had cost the wallet by then. Amounts are in cents, and times in ms
 * since the epoch.
 */
export interface WalletNote {
  readonly at: number;
  readonly balance: number;
  /** The total cost to the wallet of the orders since `from`, as inferred from the service's rules. */
  readonly net: number;
  readonly from: number;
  /** The service's fee per order at the time. */
  readonly fee: number;
}

/** The wallet balance, and the orders that belong to it. */
export interface WalletRead {
  readonly balance: number | undefined;
  readonly spendable: number | undefined;
  readonly fee: number | undefined;
  /** False if the balance changed during each attempt to read the orders. */
  readonly isSteady: boolean;
  readonly orders: ReadonlyMap<string, FoundOrder>;
  /** The last recorded balance of this account; undefined the first time. */
  readonly before: WalletNote | undefined;
  /** Time from which orders count in the next comparison, in ms since the epoch. */
  readonly from: number;
}

/** How the balance compares with the last recorded balance. Amounts are in cents. */
export interface WalletMoves {
  readonly expected: number;
  /** The difference that no order explains; positive if the balance is higher than expected. */
  readonly difference: number;
}

/** Parses a wallet balance recorded in the audit chain. @returns undefined if the record is not a valid balance. */
export function walletNoteOf(record: Readonly<Record<string, unknown>> | undefined): WalletNote | undefined {
  const { time, amount_cents: balance, detail } = record ?? {};
  const [at, from] = [Date.parse(String(time)), Date.parse(textIn(detail, 'from') ?? '')];
  const [net, fee] = [numberIn(detail, 'net'), numberIn(detail, 'fee')];
  const isKnown = typeof balance === 'number' && net !== undefined && fee !== undefined;
  return isKnown && at > 0 && from > 0 ? { at, balance, net, from, fee } : undefined;
}

/**
 * Calculates the expected balance from the last recorded balance and the orders since then. Pure. @param intents are
 * the intents by order id.
 */
export function walletMoves(
  { balance, fee, isSteady, orders, before }: WalletRead,
  intents: ReadonlyMap<string, RecordedIntent>,
): WalletMoves | undefined {
  if (!before || !isSteady || balance === undefined || fee === undefined) return undefined;
  // The fee may have changed. Therefore, orders from before the balance was recorded count with the fee of that time.
  const feeOf = (createdAt: number): number => (createdAt < before.at ? before.fee : fee);
  const net = netOf(orders, before.from, intents, feeOf);
  const expected = before.balance + before.net - net;
  return { expected, difference: balance - expected };
}

/** For how long, in ms, an unchanged balance is not recorded again. */
const renewedMs = 24 * 3600 * 1000;

/** The balance entry to record. Undefined if the balance is unknown, or if the entry would add nothing new. Pure. */
export function walletEntry(
  wallet: WalletRead,
  intents: ReadonlyMap<string, RecordedIntent>,
  {
    account,
    now,
    difference,
  }: { readonly account: string; readonly now: number; readonly difference?: number },
): Extract<AuditEntry, { kind: 'wallet' }> | undefined {
  const { balance, spendable, fee, isSteady, orders, before, from } = wallet;
  if (!isSteady || balance === undefined || fee === undefined) return undefined;
  const isSame = before?.balance === balance && before.fee === fee && difference === 0;
  if (isSame && now - before.at < renewedMs) return undefined;
  const net = netOf(orders, from, intents, () => fee);
  const reserved = spendable === undefined ? null : balance - spendable;
  const detail = { account, reserved, net, fee, from: new Date(from).toISOString() };
  return { kind: 'wallet', cents: balance, detail: { ...detail, difference: difference ?? null } };
}

/**
 * The total, in cents, that orders have cost the wallet, minus returned money. It is inferred from the service's rules.
 */
const netOf = (
  orders: ReadonlyMap<string, FoundOrder>,
  from: number,
  intents: ReadonlyMap<string, RecordedIntent>,
  feeOf: (createdAt: number) => number,
): number =>
  [...orders].reduce((sum, [id, order]) => {
    const createdAt = Date.parse(textIn(order, 'created_at') ?? '');
    if (!(createdAt >= from)) return sum;
    const { sums } = moneyOf(order, { feeCents: feeOf(createdAt), paid: intents.get(id)?.paid });
    return sums.reduce(
      (all, { payer, currency, net }) => all + (payer === 'wallet' && currency === 'USD' ? net : 0),
      sum,
    );
  }, 0);
