import { spawn } from 'node:child_process';
import type { DollarAsset } from '../../config/preferences.ts';
import { formatMoney } from '../../format/money.ts';
import { PaymentRequiredError } from '../../http/errors.ts';
import { asciiText, isForBody, type PaymentChallenge } from '../../http/payment-challenge.ts';
import { type Grant, paymentCredential, readCredential } from '../../http/payment-credential.ts';
import { wireBody } from '../../http/request.ts';
import { x402Required } from '../../http/x402.ts';
import { ErrandError, stopOf, UsageError } from '../../platform/errors.ts';
import { forwardLines } from '../../platform/process.ts';
import type { Context } from '../../run/context.ts';

/** Sends a request without payment. @returns its response, or the challenges if payment is required. */
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
 * Selects the challenge to pay for a request body. Checks that the challenge can be paid and has the agreed price (in
 * cents), and asks a person where confirmation is required. Does not pay yet.
 * @throws ErrandError payment, interrupted; UsageError.
 */
export async function agreeOnPayment(
  context: Context,
  challenges: readonly PaymentChallenge[],
  { body, expectedCents }: { readonly body: unknown; readonly expectedCents: number },
  options: PayOptions,
): Promise<PaymentChallenge> {
  const priced = inDollars(challenges, context.settings.x402Assets.value);
  const offered = { challenges: priced, body: wireBody(body), now: context.clock.now() };
  const chosen = await chooseMethod(context, payable(offered, options));
  checkPrice(chosen, { expectedCents, maxPayCents: options.maxPayCents });
  await agree(context, chosen, options);
  return chosen;
}

/**
 * Converts x402 offers to dollars. Leaves out offers in assets that the user has not configured. Pure.
 * @throws ErrandError payment if there are no other offers.
 */
function inDollars(
  challenges: readonly PaymentChallenge[],
  assets: readonly DollarAsset[],
): readonly PaymentChallenge[] {
  const priced = challenges.flatMap((challenge): PaymentChallenge | readonly [] => {
    const { offer, amount, currency } = challenge;
    if (!offer) return challenge;
    const asset = assets.find(({ name }) => isSameAsset(name, currency));
    if (!asset) return [];
    const perCent = 10n ** BigInt(asset.decimals - centDecimals);
    // Round up to whole cents, so that the amount cannot exceed a cap unnoticed.
    return { ...challenge, amount: String((BigInt(amount) + perCent - 1n) / perCent), currency: 'usd' };
  });
  if (priced.length > 0 || challenges.length === 0) return priced;
  const offered = [...new Set(challenges.map(({ currency }) => asciiText(currency)))].join(', ');
  throw refused(
    `the service takes payment by x402 in ${offered}, which x402-assets does not name; nothing was paid`,
    `Where you know what it is, and one unit of it is a dollar: errand config set x402-assets NETWORK/ASSET:DECIMALS. With an account, errand order create pays from the wallet.`,
  );
}

/** For hexadecimal addresses, upper and lower case are the same. */
const isSameAsset = (one: string, other: string): boolean =>
  one === other || (/\/0x[0-9a-f]+$/i.test(one) && one.toLowerCase() === other.toLowerCase());

/** Pays a challenge. @returns the payment header. @throws ErrandError payment. */
export function pay(
  context: Context,
  challenge: PaymentChallenge,
  { payCommand }: PayOptions,
): Promise<string> {
  if (payCommand !== undefined) return payByCommand(context, payCommand, challenge);
  return Promise.resolve(paymentCredential(challenge, { payload: builtInPayload }));
}

/** Payload for the method `sandbox`: a plain approval. */
const builtInPayload = { type: 'sandbox', authorization: 'approve' };

/** Notes the amount paid. */
export function notePaid(context: Context, challenge: PaymentChallenge, { receipt }: Grant): void {
  const reference = receipt === undefined ? 'no receipt came' : `receipt ${receipt.reference}`;
  context.note(`paid ${priceText(challenge)} by ${challenge.method}, ${reference}`);
}

/**
 * Picks the challenge to pay. Prompts if there are several.
 * @throws UsageError if a prompt is needed and nobody can answer.
 */
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
 * Shows the payment and asks for confirmation. The built-in payer moves no money, so for that payer there is no
 * question.
 * @throws UsageError if nobody can answer and `--yes` is missing; ErrandError interrupted if the answer is no.
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

/** Summary of the payment. Marks the service's own description as an unverified claim. */
function summary(context: Context, challenge: PaymentChallenge, payCommand: string): string[] {
  const { method, realm, description, expiresAt, request, offer } = challenge;
  const { recipient } = request;
  const claims = [realm, ...(description === undefined ? [] : [description])].filter((text) => text !== '');
  return [
    `  pay      ${priceText(challenge)}`,
    ...(typeof recipient === 'string' ? [`  to       ${recipient}`] : []),
    `  method   ${method}`,
    ...(offer ? [`  asset    ${String(offer.accepted.asset)} on ${String(offer.accepted.network)}`] : []),
    `  by       ${payCommand}`,
    ...(expiresAt === undefined ? [] : [`  until    ${new Date(expiresAt).toISOString()}`]),
    `  service  ${context.settings.baseUrl.value}`,
    ...claims.map((text) => `  claims   ${JSON.stringify(text)}`),
  ];
}

/** Asks for consent to a price that is not in dollars. No flag can replace the answer of a person. */
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

/** The method of the built-in payer, which moves no money. */
const builtInMethod = 'sandbox';

interface Offers {
  readonly challenges: readonly PaymentChallenge[];
  /** The exact body as sent, because a challenge may be bound to it. */
  readonly body: Uint8Array;
  /** Ms since the epoch. */
  readonly now: number;
}

/** Requires at least one digit. */
type Candidates = readonly [PaymentChallenge, ...PaymentChallenge[]];

/**
 * The first challenge of each method that can be paid, in the service's order. Pure.
 * @throws ErrandError payment if no challenge can be paid. The error lists what the service offers.
 */
function payable(
  { challenges, body, now }: Offers,
  { method, payCommand }: Pick<PayOptions, 'method' | 'payCommand'>,
): Candidates {
  const requested = method ?? (payCommand === undefined ? builtInMethod : undefined);
  const named = challenges.filter((it) => it.intent === 'charge' && (requested ?? it.method) === it.method);
  if (named.length === 0 || (payCommand === undefined && requested !== builtInMethod)) {
    throw notOffered(challenges, requested, payCommand);
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
  requested: string | undefined,
  payCommand: string | undefined,
): ErrandError {
  const offered = [...new Set(challenges.map(({ method }) => method))].join(', ');
  const what =
    payCommand === undefined && requested === builtInMethod
      ? `the service takes payment by ${offered}; built in is ${builtInMethod} only`
      : `the service takes payment by ${offered}, not by ${requested ?? 'a single charge'}`;
  return payCommand === undefined && offered.split(', ').includes(requested ?? '')
    ? refused(`built in is ${builtInMethod} only; ${requested} needs a wallet`, walletHint)
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

type Priced = Pick<PaymentChallenge, 'amount' | 'currency' | 'request'>;

/** A challenge's price in cents. Undefined if the price is not in US dollars and therefore cannot be compared. */
function challengeCents(challenge: Priced): number | undefined {
  const cents = Number(challenge.amount);
  return isDollars(challenge) && !hasOtherDecimals(challenge) && Number.isSafeInteger(cents)
    ? cents
    : undefined;
}

/**
 * Without the `u` flag, a case-insensitive pattern folds only ASCII letters. `toUpperCase`, in contrast, would accept
 * `u\u017fd` as USD.
 */
const isDollars = ({ currency }: Priced): boolean => /^usd$/i.test(currency);

/** Whether a challenge counts in another unit than cents, so that `5100` does not mean $51.00. */
const hasOtherDecimals = ({ request }: Priced): boolean =>
  [request, Object(request.methodDetails)].some(
    ({ decimals }) => decimals !== undefined && decimals !== centDecimals,
  );

const centDecimals = 2;

/** The price in a form for people: `$51.00`, or the plain amount and its unit. */
export function priceText(challenge: Priced): string {
  const cents = challengeCents(challenge);
  return cents === undefined
    ? `${challenge.amount} units of ${asciiText(challenge.currency)}`
    : formatMoney(cents);
}

/**
 * Rejects a price above the limit. The limit is the amount of the flag, or else the price in the contract (both in
 * cents). If the price cannot be compared, it passes only if no flag sets a limit. A person must then confirm the
 * price.
 * @throws ErrandError payment.
 */
function checkPrice(
  challenge: Priced,
  {
    expectedCents,
    maxPayCents,
  }: { readonly expectedCents: number; readonly maxPayCents?: number | undefined },
): void {
  if (isDollars(challenge) && hasOtherDecimals(challenge))
    throw new ErrandError(
      'payment',
      'the service counts US dollars in another unit than cents, so its price cannot be checked; nothing was paid',
      { code: 'payment_failed', details: { ...challenge.request }, outcome: 'not_sent', retryable: false },
    );
  const cents = challengeCents(challenge);
  const maxCents = maxPayCents ?? expectedCents;
  if (cents === undefined ? maxPayCents === undefined : cents <= maxCents) return;
  const limit = maxPayCents === undefined ? 'this costs' : '--max-pay allows';
  throw new ErrandError(
    'payment',
    `the service asks for ${priceText(challenge)}, and ${limit} ${formatMoney(maxCents)}; nothing was paid`,
    {
      code: 'payment_failed',
      details: { amount: challenge.amount, currency: challenge.currency, allowed_cents: maxCents },
      outcome: 'not_sent',
      retryable: false,
      hint: hintFor(cents, maxPayCents),
    },
  );
}

function hintFor(cents: number | undefined, maxPayCents: number | undefined): string {
  if (cents === undefined)
    return 'The price is not in US dollars, so --max-pay cannot cap it. Without --max-pay a person is shown the price and decides.';
  return maxPayCents === undefined
    ? 'The price is not the one that the service publishes. --max-pay allows another one.'
    : 'Allow more with --max-pay, or order under a lower --max-price.';
}

/** Timeout for the pay command, in ms. It is long because a wallet may have to ask its owner. */
const payTimeoutMs = 10 * 60_000;
const maxOutputBytes = 64 * 1024;

/**
 * Runs a command that pays a challenge. The command gets the challenge as one JSON object on stdin and prints the
 * credential.
 * @returns the payment header.
 * @throws ErrandError payment if the command declines, prints no credential or times out; interrupted on Ctrl-C.
 */
async function payByCommand(context: Context, command: string, challenge: PaymentChallenge): Promise<string> {
  const { clock } = context;
  const left = challenge.expiresAt === undefined ? payTimeoutMs : challenge.expiresAt - clock.now();
  const printed = await run(context, command, challengeJson(challenge), Math.min(left, payTimeoutMs));
  const read = readCredential(printed, challenge);
  if ('credential' in read) return read.credential;
  throw failed(`the pay command printed ${read.problem}`, paidOutsideHint);
}

/**
 * The challenge in the format of its scheme's public SDK. That is either an x402 offer, or the parameters of the
 * challenge with `request` decoded.
 */
const challengeJson = ({ parameters, request, offer }: PaymentChallenge): string =>
  `${JSON.stringify(offer ? x402Required(offer) : { ...parameters, request })}\n`;

const paidOutsideHint = 'It may have paid all the same: look there before you pay again.';

function run(context: Context, command: string, input: string, timeoutMs: number): Promise<string> {
  const { signal, environment } = context;
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    env: { ...environment },
  });
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (child.exitCode === null) child.kill();
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      settle();
    };
    const fail = (error: ErrandError): void => end(() => reject(error));
    const stop = (): void => fail(interrupted(signal.reason));
    const timer = setTimeout(
      () => fail(failed(`the pay command took more than ${Math.round(timeoutMs / 1000)} s`, paidOutsideHint)),
      timeoutMs,
    );
    signal.addEventListener('abort', stop, { once: true });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    forwardLines(child.stderr, context.note);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      out.push(chunk);
      if (size > maxOutputBytes)
        fail(failed(`the pay command printed more than ${maxOutputBytes} bytes`, paidOutsideHint));
    });
    child.on('error', (cause) => fail(failed(`the pay command could not be run: ${cause.message}`)));
    child.on('close', (code, killed) => {
      if (code === 0) end(() => resolve(Buffer.concat(out).toString()));
      else
        fail(failed(`the pay command declined (${code === null ? `ended by ${killed}` : `exit ${code}`})`));
    });
    if (signal.aborted) stop();
  });
}

const failed = (message: string, hint?: string): ErrandError =>
  new ErrandError('payment', message, {
    code: 'payment_failed',
    outcome: 'not_sent',
    retryable: false,
    hint,
  });

const interrupted = (reason: unknown): ErrandError => {
  const category = stopOf(reason) ?? 'interrupted';
  return new ErrandError(category, `${category} while the pay command ran; nothing was ordered`, {
    outcome: 'not_sent',
    hint: paidOutsideHint,
  });
};

/** Options for calls that are paid for by challenge. */
export interface PayOptions {
  /** Use only this payment method. */
  readonly method?: string | undefined;
  /** Shell command that pays. Without it, the built-in payer of the method `sandbox` is used. */
  readonly payCommand?: string | undefined;
  /** Maximum payment in cents. Defaults to the price of the call in the contract. */
  readonly maxPayCents?: number | undefined;
  /** Pay without asking. */
  readonly yes: boolean;
}
