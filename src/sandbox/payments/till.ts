import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '../../api/error-codes.ts';
import type { Operation } from '../../api/operation.ts';
import { type ParameterValues, readParameters } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import type { PaymentScheme } from '../config.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { SandboxRequest } from '../server/wire.ts';
import {
  type Bill,
  billCurrency,
  type Credential,
  challengeOf,
  decodeObject,
  digestOf,
  headerOfChallenge,
  isIssued,
  isIssuedFor,
  isPaymentMethod,
  type PaymentMethod,
  paymentMethods,
  readCredential,
  termsOf,
} from './challenge.ts';
import { type Payment, paymentBy } from './payments.ts';
import { headerOfOffer, readX402Payment, x402Failure } from './x402.ts';

/** An operation paid by challenge. */
export type PaidOperation = {
  [N in OperationName]: (typeof operations)[N]['auth'] extends 'payment' ? N : never;
}[OperationName];

/** A request for an operation paid by challenge. */
interface PaidRequest {
  readonly operation: PaidOperation;
  readonly request: SandboxRequest;
  readonly query: ParameterValues;
  /** Sandbox time of the request, in ms since the epoch. */
  readonly now: number;
}

/** Payment context of a single request. */
export interface Till {
  readonly secret: Buffer;
  readonly bill: Bill;
  /** The credential of the request. It was issued here and is unmodified. */
  readonly credential: Credential | undefined;
  /** Builds the 402 to throw. */
  errorResponse(problem: Problem, detail: string): ErrorResponse;
}

/**
 * Prepares payment for a request that costs `cents` on top of the operation's own price.
 * @throws Refusal bad_request for an unknown `method`; 402 for a credential that is malformed or was not issued here.
 */
export async function openTill(service: Service, paid: PaidRequest, cents: number): Promise<Till> {
  const { operation, request, query, now } = paid;
  const { method, ...terms } = query;
  const bill: Bill = {
    operation,
    cents: operations[operation].challengeCents + cents,
    digest: request.body.length === 0 ? null : digestOf(request.body),
    terms: termsOf(terms),
    methods: advertised(service, method),
    realm: new URL(service.config.baseUrl).host,
  };
  const secret = await paymentSecret(service);
  const schemes = service.config.paymentSchemes;
  const errorResponse: Till['errorResponse'] = (problem, detail) =>
    unpaid(
      { bill, secret, now, schemes, url: new URL(request.target, service.config.baseUrl).href },
      problem,
      detail,
    );
  const credential = credentialIn(request, schemes);
  if (credential === 'malformed') {
    const form = schemes.includes('mpp')
      ? 'base64url of {"challenge":{…},"payload":{…}}'
      : 'base64 of {"x402Version":2,"accepted":{…},"payload":{…}}';
    throw errorResponse('malformed-credential', `The credential cannot be read; it is ${form}.`);
  }
  if (credential && !credential.accepted && !isIssued(credential.challenge, secret))
    throw errorResponse('invalid-challenge', 'The challenge was not issued here, or was changed.');
  return { secret, bill, credential, errorResponse };
}

/**
 * Verifies the credential. Returns the payment that the caller has to record, but does not record it.
 * @throws Refusal 402 if there is no credential, or the credential does not pay this bill.
 */
export async function verified(
  { store, idGenerator, config }: Service,
  { bill, credential, errorResponse }: Till,
  now: number,
): Promise<Payment> {
  if (!credential)
    throw errorResponse('payment-required', 'This call is paid by challenge: pay one and send it again.');
  const { challenge, source } = credential;
  if (paymentBy(store, challenge.id))
    throw errorResponse('invalid-challenge', 'The challenge has been paid with already.');
  const failure = credential.accepted
    ? x402Failure(credential, bill, now)
    : failureOf(credential, bill, config.paymentMethods, now);
  if (failure) throw errorResponse(...failure);
  const { id: challengeId, method } = challenge;
  const { operation, cents, digest } = bill;
  const reference = `pay_${await store.transaction(() => idGenerator.token('payment', 24))}`;
  const bought = { orderId: null, idempotencyKey: null };
  return { challengeId, method, reference, operation, cents, digest, source, ...bought, at: now };
}

/** Reads the credential of a request. Accepts only the payment schemes that the sandbox offers. */
const credentialIn = (
  request: SandboxRequest,
  schemes: readonly PaymentScheme[],
): ReturnType<typeof readCredential> =>
  (schemes.includes('x402') ? readX402Payment(request) : undefined) ??
  (schemes.includes('mpp') ? readCredential(request) : undefined);

function advertised({ config }: Service, requested: unknown): readonly PaymentMethod[] {
  if (requested === undefined) return config.paymentMethods;
  const methods = config.paymentMethods.filter((method) => method === requested);
  if (methods.length > 0) return methods;
  const message = `There is no payment method ${requested}; there are ${config.paymentMethods.join(', ')}.`;
  throw new ErrorResponse('bad_request', message, { methods: config.paymentMethods });
}

const secretName = 'payment_secret';

/**
 * The secret from which challenge ids and temporary keys are derived. It is generated once per store and stored
 * encrypted, because it gives access to every order paid by challenge.
 */
async function paymentSecret(service: Pick<Service, 'store' | 'sealer'>): Promise<Buffer> {
  const { store } = service;
  const sealer = await service.sealer();
  const stored = (): string | undefined => {
    const sealed = store.meta(secretName);
    return sealed === undefined ? undefined : sealer.open(sealed, secretName);
  };
  return Buffer.from(stored() ?? (await store.transaction(() => stored() ?? make())), 'base64');

  function make(): string {
    const fresh = randomBytes(32).toString('base64');
    store.setMeta(secretName, sealer.seal(fresh, secretName));
    return fresh;
  }
}

type Failure = readonly [problem: Problem, detail: string];

/**
 * Why a credential does not pay a bill; undefined if the credential pays the bill. Assumes that the challenge was
 * issued here.
 */
function failureOf(
  { challenge, payload }: Credential,
  bill: Bill,
  configured: readonly PaymentMethod[],
  now: number,
): Failure | undefined {
  const { method, intent, request, expires = '', digest } = challenge;
  const known = isPaymentMethod(method) && configured.includes(method) ? paymentMethods[method] : undefined;
  if (!known) return ['method-unsupported', `Payment method ${method} is not taken here.`];
  const { amount, currency } = decodeObject(request) ?? {};
  const checks: readonly (readonly [isWrong: boolean, ...Failure])[] = [
    [
      intent !== 'charge' || !isIssuedFor(challenge, bill),
      'invalid-challenge',
      'The challenge was issued for another endpoint, or for other terms.',
    ],
    [
      (digest ?? null) !== bill.digest,
      'verification-failed',
      'The challenge was issued for another body than that of this request.',
    ],
    [
      amount !== String(bill.cents) || currency !== billCurrency,
      'payment-insufficient',
      `The challenge is for ${amount} ${currency}, and the request costs ${bill.cents} ${billCurrency}.`,
    ],
    [!(Date.parse(expires) > now), 'payment-expired', `The challenge expired at ${expires}.`],
    [
      !known.accepts(payload),
      'invalid-payload',
      `The payload does not have the form of ${method}: ${known.form}.`,
    ],
    [
      method === 'sandbox' && payload.authorization === 'decline',
      'verification-failed',
      'The payment was declined, as its payload requested.',
    ],
  ];
  const found = checks.find(([isWrong]) => isWrong);
  return found && [found[1], found[2]];
}

interface ProblemRow {
  readonly title: string;
  readonly code: ErrorCode;
}

/** Problem types of the "Payment" scheme, with the service's error code for each. */
const problems = {
  'payment-required': { title: 'Payment Required', code: 'payment_method_required' },
  'malformed-credential': { title: 'Malformed Credential', code: 'invalid_payment_method' },
  'invalid-challenge': { title: 'Invalid Challenge', code: 'invalid_payment_method' },
  'method-unsupported': { title: 'Method Unsupported', code: 'invalid_payment_method' },
  'invalid-payload': { title: 'Invalid Payload', code: 'invalid_payment_method' },
  'payment-expired': { title: 'Payment Expired', code: 'payment_failed' },
  'payment-insufficient': { title: 'Payment Insufficient', code: 'payment_failed' },
  'verification-failed': { title: 'Verification Failed', code: 'payment_failed' },
} as const satisfies Record<string, ProblemRow>;

type Problem = keyof typeof problems;

/**
 * Builds a 402 with a new challenge for each method of the bill. The body is both a problem document (RFC 9457) and the
 * service's error body, so that clients of either format can parse it.
 */
function unpaid(
  {
    bill,
    secret,
    now,
    schemes,
    url,
  }: {
    readonly bill: Bill;
    readonly secret: Buffer;
    readonly now: number;
    readonly schemes: readonly PaymentScheme[];
    readonly url: string;
  },
  problem: Problem,
  detail: string,
): ErrorResponse {
  const { title, code } = problems[problem];
  const challenges = schemes.includes('mpp')
    ? bill.methods.map((method) => challengeOf(bill, method, secret, now))
    : [];
  const offersX402 = schemes.includes('x402') && bill.methods.includes('x402');
  return new ErrorResponse(
    code,
    detail,
    { methods: bill.methods, amount: String(bill.cents), currency: billCurrency },
    {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(challenges.length > 0 && { 'www-authenticate': challenges.map(headerOfChallenge) }),
      ...(offersX402 && { 'payment-required': headerOfOffer(bill, url, detail) }),
    },
    {
      type: `https://paymentauth.org/problems/${problem}`,
      title,
      status: 402,
      detail,
      ...(challenges[0] && { challengeId: challenges[0].id }),
    },
  );
}

type RawQuery = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Whether a request only asks for the price and payment methods. Such a probe has no body and no query terms. A request
 * with a credential is not a probe, because answering it with a new challenge could make an automated payer pay
 * repeatedly for nothing.
 */
export function isProbe(
  name: OperationName,
  request: SandboxRequest,
  rawQuery: RawQuery,
): name is PaidOperation {
  const { auth, body, query = {} }: Operation = operations[name];
  const isPaid = readCredential(request) !== undefined || readX402Payment(request) !== undefined;
  if (auth !== 'payment' || request.body.length > 0 || isPaid) return false;
  return !body?.joinsQuery || !Object.keys(query).some((term) => Object.hasOwn(rawQuery, term));
}

/**
 * Builds the response to a probe. Its challenges are not bound to any terms, so they cannot be used to pay. For orders,
 * the challenges state only the fee.
 */
export async function probeResponse(
  service: Service,
  operation: PaidOperation,
  { request, rawQuery, now }: { request: SandboxRequest; rawQuery: RawQuery; now: number },
): Promise<ErrorResponse> {
  const { query: specs = {}, body }: Operation = operations[operation];
  const { values, issues } = readParameters(body?.joinsQuery ? {} : specs, [], 'query', rawQuery);
  if (issues.length > 0) throw new Invalid(issues);
  const { errorResponse } = await openTill(service, { operation, request, query: values, now }, 0);
  return errorResponse(
    'payment-required',
    'This call is paid by challenge: send its terms to get the price.',
  );
}
