import type { OrderBody } from './lifecycle/index.ts';

/** What one order takes from the wallet, cents. */
export interface WalletTerms {
  /** Set aside when the order is accepted: the most that it can come to cost the wallet. */
  readonly reserved: number;
  /** The service's fee, taken when the order is placed. */
  readonly fee: number;
  /** Whether the wallet pays the goods too. */
  readonly paysGoods: boolean;
}

/**
 * A card holds the ceiling and the fee itself, so the wallet owes nothing; goods bought through the caller's own
 * retailer account, or by a connected customer, leave it the fee alone (specification, Errors, rule 3).
 */
export function walletTerms(order: OrderBody, feeCents: number): WalletTerms {
  const mode = order.payment?.mode ?? 'wallet';
  if (mode === 'card') return { reserved: 0, fee: 0, paysGoods: false };
  const paysGoods = mode === 'wallet' && order.retailer_credentials_id == null;
  return { reserved: paysGoods ? order.max_price + feeCents : feeCents, fee: feeCents, paysGoods };
}
