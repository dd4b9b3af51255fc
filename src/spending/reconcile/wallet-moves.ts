import { numberIn, textIn } from '../../api/json.ts';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { moneyOf } from '../money-of-order.ts';
import type { FoundOrder, RecordedIntent } from './chain-facts.ts';

/** The balance that the wallet had, and what orders had cost it by then. Cents; times ms since the epoch. */
export interface WalletNote {
  readonly at: number;
  readonly balance: number;
  /** What the orders since `from` had cost the wallet, by rule. */
  readonly net: number;
  readonly from: number;
  /** What the service took for an order. */
  readonly fee: number;
}

/** The wallet, and the orders that belong to that very balance. */
export interface WalletRead {
  readonly balance: number | undefined;
  readonly spendable: number | undefined;
  readonly fee: number | undefined;
  /** False where the balance moved while the orders were read, each time. */
  readonly isSteady: boolean;
  readonly orders: ReadonlyMap<string, FoundOrder>;
  /** What was recorded last of this account; undefined before the first time. */
  readonly before: WalletNote | undefined;
  /** Orders since then count for the next comparison, ms since the epoch. */
  readonly from: number;
}

/** How the balance compares with the one that was recorded last. Cents. */
export interface WalletMoves {
  readonly expected: number;
  /** What no order explains: more than expected is positive. */
  readonly difference: number;
}

/** What the audit chain keeps of the wallet, as it is stored. @returns undefined for what is none. */
export function walletNoteOf(record: Readonly<Record<string, unknown>> | undefined): WalletNote | undefined {
  const { time, amount_cents: balance, detail } = record ?? {};
  const [at, from] = [Date.parse(String(time)), Date.parse(textIn(detail, 'from') ?? '')];
  const [net, fee] = [numberIn(detail, 'net'), numberIn(detail, 'fee')];
  const isKnown = typeof balance === 'number' && net !== undefined && fee !== undefined;
  return isKnown && at > 0 && from > 0 ? { at, balance, net, from, fee } : undefined;
}

/** What the balance should be since it was recorded last, by what orders did to it. Pure. @param intents by the order's id. */
export function walletMoves(
  { balance, fee, isSteady, orders, before }: WalletRead,
  intents: ReadonlyMap<string, RecordedIntent>,
): WalletMoves | undefined {
  if (!before || !isSteady || balance === undefined || fee === undefined) return undefined;
  // The fee may have changed: what was there when the balance was recorded counts with the fee of then.
  const feeOf = (createdAt: number): number => (createdAt < before.at ? before.fee : fee);
  const net = netOf(orders, before.from, intents, feeOf);
  const expected = before.balance + before.net - net;
  return { expected, difference: balance - expected };
}

/** A balance that is recorded as often need not be recorded again, ms. */
const renewedMs = 24 * 3600 * 1000;

/** What is to be recorded of the wallet; undefined where that says nothing new, or is not known. Pure. */
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

/** What orders have cost the wallet by rule, less what came back. Cents. */
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
