import type { Context } from '../context.ts';
import { numberIn } from '../contract/json.ts';
import type { Received } from '../contract/received.ts';
import type { Shape } from '../contract/schemas/index.ts';
import { formatMoney } from '../output/money.ts';

/** An order as a person judges it before spending: items, ceiling, fee, address and how it is paid. */
export async function spendingLines(context: Context, body: Shape<'OrderCreate'>): Promise<string[]> {
  const client = await context.client();
  const { body: wallet } = await client.call('wallet.get', {});
  const to = body.shipping_address;
  const account = body.retailer_credentials_id;
  return [
    ...body.products.map((line) => `  ${line.quantity} x ${line.url}`),
    `  ceiling  ${formatMoney(body.max_price)} and ${feeText(wallet)}`,
    `  ship to  ${to.first_name} ${to.last_name}, ${to.address_line1}, ${to.city} ${to.postal_code} ${to.country}`,
    `  paid by  ${account ? `your retailer account ${account}` : (body.payment?.mode ?? 'wallet')}`,
  ];
}

const feeText = (wallet: Received<'wallet.get'>): string => {
  const fee = numberIn(wallet, 'order_fee_cents');
  return fee === undefined ? 'a fee that the service does not name' : `a fee of ${formatMoney(fee)}`;
};
