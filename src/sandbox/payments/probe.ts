import type { Operation } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import { readParameters } from '../../api/parameters.ts';
import { Invalid, type Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { SandboxRequest } from '../server/wire.ts';
import { readCredential } from './credential.ts';
import { openTill, type PaidOperation } from './till.ts';

type RawQuery = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Whether a request only asks what a call costs and how it can be paid: it has no body, and no term in its query. One
 * that pays is not a probe: given another challenge, a payer that works by itself would pay again and again for nothing.
 */
export function isProbe(
  name: OperationName,
  request: SandboxRequest,
  rawQuery: RawQuery,
): name is PaidOperation {
  const { auth, body, query = {} }: Operation = operations[name];
  if (auth !== 'payment' || request.body.length > 0 || readCredential(request) !== undefined) return false;
  return !body?.joinsQuery || !Object.keys(query).some((term) => Object.hasOwn(rawQuery, term));
}

/** The response to a probe. Its challenges are bound to no terms, so that they pay nothing; an order's names the fee alone. */
export async function probeRefusal(
  service: Service,
  operation: PaidOperation,
  { request, rawQuery, now }: { request: SandboxRequest; rawQuery: RawQuery; now: number },
): Promise<Refusal> {
  const { query: specs = {}, body }: Operation = operations[operation];
  const { values, issues } = readParameters(body?.joinsQuery ? {} : specs, [], 'query', rawQuery);
  if (issues.length > 0) throw new Invalid(issues);
  const { refusal } = await openTill(service, { operation, request, query: values, now }, 0);
  return refusal('payment-required', 'This call is paid by challenge: send its terms to get the price.');
}
