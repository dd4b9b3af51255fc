import type { Context } from '../context.ts';
import type { Shape } from '../contract/schemas/index.ts';
import { ErrandError, UsageError } from '../errors.ts';
import { formatMoney } from '../output/money.ts';
import { shellWord } from './shell-word.ts';

/**
 * Asks once before a live key spends, showing what is bought, the ceiling, where it goes and how it is paid.
 * A test key never asks. @throws UsageError when nobody can answer and --yes is missing.
 */
export async function confirmSpending(
  context: Context,
  body: Shape<'OrderCreate'>,
  yes: boolean,
): Promise<void> {
  if (yes || context.isRehearsal() || context.previewsRequests) return;
  await confirmed(context, 'Place this order with real money?', async () => {
    const client = await context.client();
    const { body: wallet } = await client.call('wallet.get', {});
    return summary(body, wallet.order_fee_cents);
  });
}

/**
 * Asks a question on which money hangs, after the lines that say what it is about.
 * @throws UsageError when nobody can answer; ErrandError interrupted for a no.
 */
export async function confirmed(
  context: Context,
  question: string,
  about: () => Promise<readonly string[]>,
): Promise<void> {
  if (!context.interactive.yes) {
    throw new UsageError(`this key spends real money: --yes is needed, as ${context.interactive.why}`, {
      next: [{ command: ['errand', ...context.argv.map(shellWord), '--yes'].join(' '), when: 'to spend' }],
    });
  }
  for (const line of await about()) context.note(line);
  const prompt = await context.prompt();
  if (await prompt.confirm(context, question)) return;
  throw new ErrandError('interrupted', 'not ordered', { outcome: 'not_sent' });
}

function summary(body: Shape<'OrderCreate'>, feeCents: number): string[] {
  const to = body.shipping_address;
  const account = body.retailer_credentials_id;
  return [
    ...body.products.map((line) => `  ${line.quantity} x ${line.url}`),
    `  ceiling  ${formatMoney(body.max_price)} and a fee of ${formatMoney(feeCents)}`,
    `  ship to  ${to.first_name} ${to.last_name}, ${to.address_line1}, ${to.city} ${to.postal_code} ${to.country}`,
    `  paid by  ${account ? `your retailer account ${account}` : (body.payment?.mode ?? 'wallet')}`,
  ];
}
