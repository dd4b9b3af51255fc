import { limits } from '../../api/limits.ts';
import type { ParameterValues } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import { isTestSlug, type TestProduct, testProducts } from '../orders/lifecycle/index.ts';
import { type Noting, noteLater } from '../server/caller.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { insufficientFunds, requireFunds, walletOf } from './wallet.ts';

/** Records a call for `GET /usage`. The write is deferred, so no response waits for it. */
export function recordCall(
  service: Noting,
  userId: string,
  now: number,
  endpoint: OperationName,
  { path, query }: { path: ParameterValues; query: ParameterValues },
  count: number | undefined,
): void {
  if (!counted.has(endpoint)) return;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  noteLater(service, () =>
    service.store.run(
      'INSERT INTO calls (user_id, at, endpoint, query, result_count, retailer, product_id) VALUES (?, ?, ?, ?, ?, ?, ?)',
      userId,
      now,
      endpoint,
      text(query.q ?? query.query),
      count ?? null,
      text(query.retailer),
      text(path.product_id),
    ),
  );
}

/** Operations that count as usage because they are costly to serve. Reads of orders do not count. */
const counted: ReadonlySet<OperationName> = new Set<OperationName>([
  'search',
  'product.search',
  'product.get',
  'product.offers',
  'order.create',
]);

/** A data call by a caller with an account. */
type DataCall = Extract<OperationName, 'search' | 'product.search' | 'product.get' | 'product.offers'>;

/**
 * Wallet balance, in cents, that a data call requires. A caller without an account pays this price for the same call.
 * Nothing is deducted, because the specification lists the 402 but no price.
 */
const coveredCents = limits.agentDataCallCents;

const messages = {
  payment_failed: 'The payment for this call did not go through.',
  payment_method_required: 'There is no payment method to pay for this call with.',
} as const;

/**
 * Rejects a data call if the wallet is empty. Also rejects the call if the search term is the slug of a test product
 * that provokes one of this call's 402 errors.
 * @throws Refusal insufficient_funds, payment_failed, payment_method_required.
 */
export function refuseDataCall({ store }: Service, userId: string, name: DataCall, term: string): void {
  const { spendable } = walletOf(store, userId);
  const code = rehearsedBy(term);
  if (code === 'insufficient_funds') throw insufficientFunds(Math.min(spendable, 0), coveredCents, []);
  const rehearsed = operations[name].errors.find((errorCode) => errorCode === code);
  if (rehearsed === 'payment_failed' || rehearsed === 'payment_method_required')
    throw new ErrorResponse(rehearsed, messages[rehearsed]);
  requireFunds(spendable, coveredCents, []);
}

function rehearsedBy(term: string): TestProduct['refusesCreation'] {
  const slug = term.trim();
  if (!isTestSlug(slug)) return undefined;
  const { refusesCreation }: TestProduct = testProducts[slug];
  return refusesCreation;
}
