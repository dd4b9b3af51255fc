import type { PaymentChallenge } from '../../http/payment-challenge.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { Candidates } from './choose.ts';
import type { PayOptions } from './options.ts';
import { challengeCents, priceText } from './price.ts';

/** The one challenge to pay: where there are several a person chooses. @throws UsageError where nobody can. */
export async function chooseMethod(
  context: Context,
  [first, ...others]: Candidates,
): Promise<PaymentChallenge> {
  if (others.length === 0) return first;
  const methods = [first, ...others].map(({ method }) => method);
  if (!context.interactive.yes) {
    throw new UsageError(
      `the service takes payment by ${methods.join(', ')}; --method says which, as ${context.interactive.why}`,
      { code: 'payment_method_required' },
    );
  }
  const prompt = await context.prompt();
  const chosen = await prompt.askChoice(context, 'Pay by', methods);
  return others.find(({ method }) => method === chosen) ?? first;
}

/**
 * Shows what is to be paid, and has a person agree to it. The built-in payer has no money, so it asks nobody.
 * @throws UsageError where nobody can answer and --yes is missing; ErrandError interrupted where the answer is no.
 */
export async function agree(
  context: Context,
  challenge: PaymentChallenge,
  { payCommand, yes }: PayOptions,
): Promise<void> {
  if (payCommand === undefined)
    return context.note(`paying ${priceText(challenge)} by ${challenge.method}; no money moves`);
  for (const line of summary(context, challenge, payCommand)) context.note(line);
  if (challengeCents(challenge) === undefined) return agreeToUnits(context, challenge);
  if (!yes) await ask(context, `Pay ${priceText(challenge)}?`);
}

/** What the service says of itself is quoted as its claim: nobody has checked it. */
function summary(context: Context, challenge: PaymentChallenge, payCommand: string): string[] {
  const { method, realm, description, expiresAt, request } = challenge;
  const { recipient } = request;
  const says = [realm, ...(description === undefined ? [] : [description])].filter((text) => text !== '');
  return [
    `  pay      ${priceText(challenge)}`,
    ...(typeof recipient === 'string' ? [`  to       ${recipient}`] : []),
    `  method   ${method}`,
    `  by       ${payCommand}`,
    ...(expiresAt === undefined ? [] : [`  until    ${new Date(expiresAt).toISOString()}`]),
    `  service  ${context.settings.baseUrl.value}`,
    ...says.map((text) => `  claims   ${JSON.stringify(text)}`),
  ];
}

/** What is not in dollars is for a person to decide: no flag confirms it. */
async function agreeToUnits(context: Context, challenge: PaymentChallenge): Promise<void> {
  const price = priceText(challenge);
  if (context.interactive.yes) return ask(context, `Pay ${price}, which cannot be compared with dollars?`);
  throw new ErrandError(
    'payment',
    `the service asks for ${price}, which cannot be compared with dollars; a person must agree; cannot prompt, as ${context.interactive.why}`,
    { code: 'payment_failed', outcome: 'not_sent', retryable: false },
  );
}

async function ask(context: Context, question: string): Promise<void> {
  if (!context.interactive.yes) {
    throw new UsageError(`this spends money: pass --yes to confirm, because ${context.interactive.why}`);
  }
  const prompt = await context.prompt();
  if (await prompt.confirm(context, question)) return;
  throw new ErrandError('interrupted', 'not paid', { outcome: 'not_sent' });
}
