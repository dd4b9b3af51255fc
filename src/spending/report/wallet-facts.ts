import { numberIn, textIn } from '../../api/json.ts';
import type { Context } from '../../run/context.ts';

export interface WalletFacts {
  readonly id: string;
  /** What the service takes for an order, cents; undefined where it does not say. */
  readonly feeCents: number | undefined;
  /** Cents; undefined where it does not say. */
  readonly balance: number | undefined;
}

export async function readWallet(context: Context): Promise<WalletFacts> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const cents = (name: string): number | undefined => {
    const found = numberIn(body, name);
    return Number.isSafeInteger(found) ? found : undefined;
  };
  const fee = cents('order_fee_cents');
  return {
    id: textIn(body, 'id') ?? 'wallet',
    feeCents: fee !== undefined && fee >= 0 ? fee : undefined,
    balance: cents('balance'),
  };
}
