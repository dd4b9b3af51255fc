import { own } from '../api/json.ts';
import type { Surface } from '../api/operation.ts';
import type { Received } from '../api/received.ts';
import type { Shape } from '../api/schemas/index.ts';
import { formatMoney } from '../format/money.ts';
import { UnavailableError } from '../http/errors.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import { typedCommand } from '../platform/shell.ts';
import type { Context } from '../run/context.ts';
import type { OrderContext } from '../run/order-context.ts';
import { policyLines } from '../spending/policy-gate.ts';
import { proposedOrder } from './submit/submit.ts';

interface Spending {
  /** Whether `--yes` was given. */
  readonly yes: boolean;
  readonly question: string;
  /** The surface whose key or token pays. Defaults to the current surface. */
  readonly surface?: Surface;
  /** Lines that say what is bought, how much it costs, and how it is paid for. Computed only if they are shown. */
  lines(): Promise<readonly string[]>;
}

/**
 * Before a live key spends money, asks for confirmation. Does not ask for test keys.
 * @throws UsageError if nobody can answer and `--yes` is missing; ErrandError if the answer is no.
 */
export async function confirmSpending(
  context: Context,
  { yes, question, surface, lines }: Spending,
): Promise<void> {
  if (yes || context.isRehearsal(surface) || context.previewsRequests) return;
  if (!context.interactive.yes) {
    throw new UsageError(
      `this spends real money: pass --yes to confirm, because ${context.interactive.why}`,
      {
        next: [{ command: typedCommand([...context.argv, '--yes']), when: 'to spend' }],
      },
    );
  }
  for (const line of await lines()) context.note(line);
  const prompt = await context.prompt();
  if (await prompt.confirm(context, question)) return;
  throw new ErrandError('interrupted', 'nothing was ordered', { outcome: 'not_sent' });
}

/** Summary of an order that is to be confirmed before money is spent: items, ceiling, fee, address and payment. */
export async function spendingLines(context: OrderContext, body: Shape<'OrderCreate'>): Promise<string[]> {
  const to = body.shipping_address;
  const { fee, payment } = await paymentOf(context, body);
  return [
    ...body.products.map((line) => `  ${line.quantity} x ${line.url}`),
    `  ceiling  ${formatMoney(body.max_price)} and ${fee}`,
    `  ship to  ${to.first_name} ${to.last_name}, ${to.address_line1}, ${to.city} ${to.postal_code} ${to.country}`,
    ...payment,
  ];
}

/**
 * Lines to add to an order that was shown already: the additional fee, how the order is paid for, and what the policy
 * says.
 */
export async function paymentLines(context: OrderContext, body: Shape<'OrderCreate'>): Promise<string[]> {
  const { fee, payment } = await paymentOf(context, body);
  return [`  on top    ${fee}`, ...payment];
}

async function paymentOf(
  context: OrderContext,
  body: Shape<'OrderCreate'>,
): Promise<{ readonly fee: string; readonly payment: readonly string[] }> {
  const client = await context.client();
  const { body: wallet } = await client.call('wallet.get', {});
  centsIn(wallet, 'spendable_balance');
  const account = body.retailer_credentials_id;
  const policy = await policyLines(context, [await proposedOrder(context, body)]);
  return {
    fee: feeText(wallet),
    payment: [
      ...policy.map((line) => `  ${line}`),
      `  paid by  ${account ? `your retailer account ${account}` : (body.payment?.mode ?? 'wallet')}`,
    ],
  };
}

const feeText = (wallet: Received<'wallet.get'>): string => {
  const fee = centsIn(wallet, 'order_fee_cents');
  if (fee !== undefined && fee < 0) throw oddAmount('order_fee_cents');
  return fee === undefined ? 'a fee that the service does not name' : `a fee of ${formatMoney(fee)}`;
};

/**
 * Reads an amount from the wallet.
 * @throws UnavailableError for a value that is not whole cents, because nobody could confirm such an amount.
 */
function centsIn(wallet: Received<'wallet.get'>, name: string): number | undefined {
  const value = own(wallet, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw oddAmount(name);
  return value;
}

const oddAmount = (name: string): UnavailableError =>
  new UnavailableError(`the service's response about the wallet is odd: its ${name} is not an amount`, {
    outcome: 'not_sent',
    retryable: false,
    hint: 'Nothing was ordered. Is the base URL right? `errand auth status` shows which one is used.',
  });
