import { type OperationName, operations } from '../../api/operations/index.ts';
import type { ParameterValues } from '../../api/parameters.ts';
import { Refusal } from '../server/refusal.ts';
import type { SandboxRequest } from '../server/wire.ts';
import type { Service } from '../service.ts';
import { type Bill, digestOf, isIssued, termsOf } from './challenge.ts';
import { type Credential, readCredential } from './credential.ts';
import type { PaymentMethod } from './methods.ts';
import { type Payment, paymentBy } from './payments.ts';
import { type Problem, unpaid } from './problem.ts';
import { paymentSecret } from './secret.ts';
import { failureOf } from './verify.ts';

/** An operation that is paid by challenge. */
export type PaidOperation = {
  [N in OperationName]: (typeof operations)[N]['auth'] extends 'payment' ? N : never;
}[OperationName];

/** A request for something that is paid by challenge. */
export interface PaidRequest {
  readonly operation: PaidOperation;
  readonly request: SandboxRequest;
  readonly query: ParameterValues;
  /** ms since the epoch. */
  readonly now: number;
}

/** Where one request is paid. */
export interface Till {
  readonly secret: Buffer;
  readonly bill: Bill;
  /** What the request presents, issued here and unchanged. */
  readonly credential: Credential | undefined;
  /** The 402 to throw. */
  refusal(problem: Problem, detail: string): Refusal;
}

/**
 * Opens the till for a request that costs `cents` beside the operation's own price.
 * @throws Refusal bad_request for an unknown `method`; 402 for a credential that cannot be read or was not issued here.
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
  const refusal: Till['refusal'] = (problem, detail) => unpaid(bill, secret, now, problem, detail);
  const credential = readCredential(request);
  if (credential === 'malformed') {
    const form = 'base64url of {"challenge":{…},"payload":{…}}';
    throw refusal('malformed-credential', `The credential cannot be read; it is ${form}.`);
  }
  if (credential && !isIssued(credential.challenge, secret))
    throw refusal('invalid-challenge', 'The challenge was not issued here, or was changed.');
  return { secret, bill, credential, refusal };
}

/**
 * What the credential pays, as it is to be kept. Nothing is taken yet.
 * @throws Refusal 402 where there is none, or it does not pay this bill.
 */
export async function verified(
  { store, identity, config }: Service,
  { bill, credential, refusal }: Till,
  now: number,
): Promise<Payment> {
  if (!credential)
    throw refusal('payment-required', 'This call is paid by challenge: pay one and send it again.');
  const { challenge, source } = credential;
  if (paymentBy(store, challenge.id))
    throw refusal('invalid-challenge', 'The challenge has been paid with already.');
  const failure = failureOf(credential, bill, config.paymentMethods, now);
  if (failure) throw refusal(...failure);
  const { id: challengeId, method } = challenge;
  const { operation, cents, digest } = bill;
  const reference = `pay_${await store.transaction(() => identity.token('payment', 24))}`;
  const bought = { orderId: null, idempotencyKey: null };
  return { challengeId, method, reference, operation, cents, digest, source, ...bought, at: now };
}

function advertised({ config }: Service, requested: unknown): readonly PaymentMethod[] {
  if (requested === undefined) return config.paymentMethods;
  const methods = config.paymentMethods.filter((method) => method === requested);
  if (methods.length > 0) return methods;
  const message = `There is no payment method ${requested}; there are ${config.paymentMethods.join(', ')}.`;
  throw new Refusal('bad_request', message, { methods: config.paymentMethods });
}
