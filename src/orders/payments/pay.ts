import { PaymentRequiredError } from '../../http/errors.ts';
import { isForBody, type PaymentChallenge } from '../../http/payment-challenge.ts';
import { type Grant, paymentCredential } from '../../http/payment-credential.ts';
import { wireBody } from '../../http/request.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { PayOptions } from './options.ts';
import { payByCommand } from './pay-command.ts';
import { challengeCents, checkPrice, priceText } from './price.ts';

/** Sends a request without payment. @returns its response, or the challenges where it must be paid for. */
export async function requestPrice<T>(
  send: () => Promise<T>,
): Promise<{ readonly response: T } | { readonly challenges: readonly PaymentChallenge[] }> {
  try {
    return { response: await send() };
  } catch (error) {
    if (error instanceof PaymentRequiredError) return error;
    throw error;
  }
}

/**
 * The challenge that is to be paid for a body: one that can be, at a price that was agreed (cents), to which a person
 * said yes where one is asked. Nothing is paid yet. @throws ErrandError payment, interrupted; UsageError.
 */
export async function agreeOnPayment(
  context: Context,
  challenges: readonly PaymentChallenge[],
  { body, expectedCents }: { readonly body: unknown; readonly expectedCents: number },
  options: PayOptions,
): Promise<PaymentChallenge> {
  const offered = { challenges, body: wireBody(body), now: context.clock.now() };
  const chosen = await chooseMethod(context, payable(offered, options));
  checkPrice(chosen, { expectedCents, maxPayCents: options.maxPayCents });
  await agree(context, chosen, options);
  return chosen;
}

/** Pays a challenge. @returns the header that says so. @throws ErrandError payment. */
export function pay(
  context: Context,
  challenge: PaymentChallenge,
  { payCommand }: PayOptions,
): Promise<string> {
  if (payCommand !== undefined) return payByCommand(context, payCommand, challenge);
  return Promise.resolve(paymentCredential(challenge, { payload: builtInPayload }));
}

/** How the method `sandbox` is paid: by saying so. */
const builtInPayload = { type: 'sandbox', authorization: 'approve' };

/** Tells what was paid. */
export function notePaid(context: Context, challenge: PaymentChallenge, { receipt }: Grant): void {
  const reference = receipt === undefined ? 'no receipt came' : `receipt ${receipt.reference}`;
  context.note(`paid ${priceText(challenge)} by ${challenge.method}, ${reference}`);
}

/** The one challenge to pay: where there are several a person chooses. @throws UsageError where nobody can. */
async function chooseMethod(context: Context, [first, ...others]: Candidates): Promise<PaymentChallenge> {
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
async function agree(
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

/** The method that the built-in payer knows: it settles without money. */
const builtInMethod = 'sandbox';

interface Offers {
  readonly challenges: readonly PaymentChallenge[];
  /** As it was sent: a challenge may be bound to it. */
  readonly body: Uint8Array;
  /** Ms since the epoch. */
  readonly now: number;
}

/** One at least. */
type Candidates = readonly [PaymentChallenge, ...PaymentChallenge[]];

/**
 * The challenges that could be paid, the first of each method, in the service's order. Pure.
 * @throws ErrandError payment saying what is offered, where none is left.
 */
function payable(
  { challenges, body, now }: Offers,
  { method, payCommand }: Pick<PayOptions, 'method' | 'payCommand'>,
): Candidates {
  const wanted = method ?? (payCommand === undefined ? builtInMethod : undefined);
  const named = challenges.filter((it) => it.intent === 'charge' && (wanted ?? it.method) === it.method);
  if (named.length === 0 || (payCommand === undefined && wanted !== builtInMethod)) {
    throw notOffered(challenges, wanted, payCommand);
  }
  const live = named.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  if (live.length === 0)
    throw refused('the payment that the service asks for has expired already', clockHint);
  const ours = live.filter((challenge) => isForBody(challenge, body));
  const [first, ...others] = [
    ...new Map(ours.toReversed().map((it) => [it.method, it])).values(),
  ].toReversed();
  if (!first) throw refused('the service asks payment for another request than this one');
  return [first, ...others];
}

const clockHint = 'Is the clock of this machine right?';

function notOffered(
  challenges: readonly PaymentChallenge[],
  wanted: string | undefined,
  payCommand: string | undefined,
): ErrandError {
  const offered = [...new Set(challenges.map(({ method }) => method))].join(', ');
  const what =
    payCommand === undefined && wanted === builtInMethod
      ? `the service takes payment by ${offered}; built in is ${builtInMethod} only`
      : `the service takes payment by ${offered}, not by ${wanted ?? 'a single charge'}`;
  return payCommand === undefined && offered.split(', ').includes(wanted ?? '')
    ? refused(`built in is ${builtInMethod} only; ${wanted} needs a wallet`, walletHint)
    : refused(what, payCommand === undefined ? walletHint : undefined);
}

const walletHint =
  'Any program that pays can: --pay-command CMD of the agent commands gets the challenge on stdin and prints the credential.';

const refused = (message: string, hint?: string): ErrandError =>
  new ErrandError('payment', message, {
    code: 'payment_method_required',
    outcome: 'not_sent',
    retryable: false,
    hint,
  });
