import { own } from '../../api/json.ts';
import { operations } from '../../api/operations/index.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';

const fees = new WeakMap<OrderContext, Promise<number>>();

/**
 * What the service takes for an order besides its price, cents: by the contract for an order that is paid by challenge, else as
 * the wallet says, which is read once a run. @throws ErrandError where the service does not say it.
 */
export function feeOf(context: OrderContext, operation: string): Promise<number> {
  if (operation === 'agent.order.create')
    return Promise.resolve(operations['agent.order.create'].challengeCents);
  const known = fees.get(context) ?? readFee(context);
  fees.set(context, known);
  return known;
}

async function readFee(context: OrderContext): Promise<number> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const fee = own(body, 'order_fee_cents');
  if (typeof fee === 'number' && Number.isSafeInteger(fee) && fee >= 0) return fee;
  throw new ErrandError('policy', 'the service does not say its fee for an order, which the policy counts', {
    code: 'policy_unusable',
    outcome: 'not_sent',
    retryable: false,
    hint: 'Nothing was ordered. Is the base URL right? `errand auth status` shows which one is used.',
  });
}
