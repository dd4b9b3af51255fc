import type { Operation } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import { readParameters } from '../../api/parameters.ts';
import { placeRows } from '../bulk/place-rows.ts';
import { bringUpToDate, isAnythingDue } from '../control/bring-up-to-date.ts';
import { isProbe, probeRefusal } from '../payments/probe.ts';
import type { Service } from '../service.ts';
import { noteCall } from '../wallet/usage.ts';
import { limitsOf } from './body-limits.ts';
import { identify } from './caller.ts';
import type { Call, HandlerResult } from './handler.ts';
import { handlers } from './handlers.ts';
import { Invalid, Refusal } from './refusal.ts';
import { readBody, readQuery } from './request.ts';
import { writeResponse } from './response.ts';
import type { Match } from './routes.ts';
import type { SandboxRequest, SandboxResponse } from './wire.ts';

/** How long a request may work at rows of batches that are due before its response, ms. */
const placingBudgetMs = 40;

/** Writes that need not know what all orders have come to; others, which change one, find it as it is now. */
const hasty: ReadonlySet<OperationName> = new Set<OperationName>([
  'order.create',
  'bulk.create',
  'bulk.validate',
]);

/** The terms in a body as a query has them. */
const asQuery = (body: unknown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(Object(body)).flatMap(([name, value]) => (value == null ? [] : [[name, [String(value)]]])),
  );

/** Reads a request as its row of the table declares it, and lets the row's handler respond. @throws Refusal, Invalid. */
export async function callOperation(
  service: Service,
  { name, path }: Extract<Match, { kind: 'operation' }>,
  request: SandboxRequest,
  search: string,
): Promise<SandboxResponse> {
  const operation: Operation = operations[name];
  const now = service.clock.now();
  const caller = identify(service, operation.auth, request, now);
  if (caller) request.identified?.(caller.userId);
  if (caller?.orderId && name !== 'order.get' && name !== 'order.timeline')
    throw new Refusal('forbidden', 'This temporary key reads one order only.');
  const handler = handlers[name];
  const raw = Object.fromEntries(Object.entries(path).map(([key, value]) => [key, [value]]));
  const inPath = readParameters(operation.pathParameters ?? {}, [], 'path', raw);
  const rawQuery = readQuery(search);
  if (isProbe(name, request, rawQuery)) throw await probeRefusal(service, name, { request, rawQuery, now });
  const body = await readBody(operation.body, request, limitsOf(name));
  const terms = operation.body?.joinsQuery ? { ...rawQuery, ...asQuery(body.value) } : rawQuery;
  const inQuery = readParameters(operation.query ?? {}, operation.rules ?? [], 'query', terms);
  // A term that the body has in another type is not missing from the query.
  const isBodyWrong = operation.body?.joinsQuery === true && body.issues.length > 0;
  const issues = [...inPath.issues, ...body.issues, ...(isBodyWrong ? [] : inQuery.issues)];
  if (issues.length > 0) throw new Invalid(issues);
  const isHasty = operation.method === 'GET' || hasty.has(name);
  const patienceMs = isHasty ? service.patience.forRead(now) : Number.POSITIVE_INFINITY;
  await placeRows(service, now, Math.min(placingBudgetMs, patienceMs));
  await bringUpToDate(service, now, patienceMs);
  // The table pairs each name with its handler; what was read above is what that handler declares.
  const run = handler as (
    service: Service,
    call: Call<OperationName>,
  ) => HandlerResult<OperationName> | Promise<HandlerResult<OperationName>>;
  const call = {
    caller,
    path: inPath.values,
    query: inQuery.values,
    body: body.value,
    request,
    now,
  } as Call<OperationName>;
  const result = await called(() => service.pace.ahead(async () => run(service, call)));
  if (caller) {
    const count = 'count' in result ? result.count : undefined;
    noteCall(service, caller.userId, now, name, { path: inPath.values, query: inQuery.values }, count);
  }
  return writeResponse(operation.response, result);

  /** What is due and was not waited for may set free the money that is missing. */
  async function called<R>(attempt: () => Promise<R>): Promise<R> {
    try {
      return await attempt();
    } catch (error) {
      const isShort = error instanceof Refusal && error.code === 'insufficient_funds';
      if (!isShort || !isAnythingDue(service.store, now)) throw error;
    }
    await bringUpToDate(service, now);
    return attempt();
  }
}
