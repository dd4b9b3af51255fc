import type { ErrorCode } from '../../api/error-codes.ts';
import { Refusal } from '../server/refusal.ts';
import { type Bill, billCurrency, challengeOf, headerOfChallenge } from './challenge.ts';

interface ProblemRow {
  readonly title: string;
  readonly code: ErrorCode;
}

/** Why a request is not paid: the problem types of the "Payment" scheme, each with the service's own code. */
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

export type Problem = keyof typeof problems;

/**
 * The 402 with fresh challenges, one for each method of the bill. Its body is a problem (RFC 9457) and the service's
 * error body in one, so that a client of either reads it.
 */
export function unpaid(bill: Bill, secret: Buffer, now: number, problem: Problem, detail: string): Refusal {
  const { title, code } = problems[problem];
  const challenges = bill.methods.map((method) => challengeOf(bill, method, secret, now));
  return new Refusal(
    code,
    detail,
    { methods: bill.methods, amount: String(bill.cents), currency: billCurrency },
    {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'www-authenticate': challenges.map(headerOfChallenge),
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
