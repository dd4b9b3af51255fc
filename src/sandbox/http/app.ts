import type { OperationName } from '../../contract/operations/index.ts';
import { readParameters } from '../../contract/parameters.ts';
import { DatabaseError } from '../../sqlite/database-error.ts';
import { placeRows } from '../bulk/place-rows.ts';
import { bringUpToDate } from '../control/bring-up-to-date.ts';
import { control } from '../control/trigger.ts';
import { pageFor } from '../pages/index.ts';
import { prefersHtml } from '../pages/prefers-html.ts';
import { isProbe, probeRefusal } from '../payments/probe.ts';
import { labelAnswer } from '../returns/labels.ts';
import type { Service } from '../service.ts';
import { noteCall } from '../wallet/usage.ts';
import { limitsFor, limitsOf } from './body-limits.ts';
import { identify } from './caller.ts';
import { finisher } from './finish.ts';
import type { Call, HandlerAnswer } from './handler.ts';
import { handlers } from './handlers.ts';
import { refusedHost } from './hosts.ts';
import { answerTo, Invalid, json, Refusal } from './refusal.ts';
import { bodyTooLarge, readBody, readQuery, readTarget } from './request.ts';
import { writeAnswer } from './response.ts';
import { type Match, route } from './routes.ts';
import { type Handle, headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** How long a request may work at rows of batches that are due before it is answered, ms. */
const placingBudgetMs = 40;

/**
 * The service as a function: a request in, an answer out, no socket. A bug is a 500 and told to the service's `report`.
 * @throws DatabaseError where the store's file is to blame: in this process that is the user's own to put right.
 */
export function createApp(service: Service): Handle {
  const finish = finisher();
  const respond = async (request: SandboxRequest): Promise<SandboxResponse> => {
    try {
      // The network between a program and the service is slow, not the one to a person who watches both.
      if (service.config.latencyMs > 0 && !prefersHtml(headerOf(request, 'accept')))
        await new Promise((resolve) => setTimeout(resolve, service.config.latencyMs));
      const answered = await answer(service, request);
      service.deliver();
      return answered;
    } catch (error) {
      const refused = answerTo(error);
      if (refused) return refused;
      if (error instanceof DatabaseError) throw error;
      service.report(error);
      return json(500, {
        code: 'internal_error',
        message: 'The sandbox failed; this is a bug in it.',
        details: {},
      });
    }
  };
  return async (request) => finish(request, await respond(request));
}

async function answer(service: Service, request: SandboxRequest): Promise<SandboxResponse> {
  const { bytes } = limitsFor(request.method, request.target);
  if (request.body.length > bytes) return bodyTooLarge(bytes);
  const elsewhere = await refusedHost(request, service.config);
  if (elsewhere) return elsewhere;
  if (service.store.unwritable && request.method !== 'GET') throw service.store.unwritable;
  const { pathname, search } = readTarget(request.target);
  const shown = pageFor(service, request, pathname, search);
  if (shown) return 'allowed' in shown ? unknownRoute(request.method, pathname, shown.allowed) : shown;
  const label = request.method === 'GET' ? await labelAnswer(service, pathname, search) : undefined;
  if (label) return label;
  const controlled = await control(service, request, pathname);
  if (controlled) return controlled;
  const found = route(request.method, pathname);
  if ('allowed' in found) return unknownRoute(request.method, pathname, found.allowed);
  return call(service, found, request, search);
}

function unknownRoute(method: string, pathname: string, allowed: readonly string[]): SandboxResponse {
  if (allowed.length === 0) {
    return json(404, {
      code: 'not_found',
      message: `There is nothing at ${method} ${pathname}.`,
      details: {},
    });
  }
  // What can be read can be read without its body.
  const methods = allowed.flatMap((name) => (name === 'GET' ? [name, 'HEAD'] : [name])).join(', ');
  const message = `${pathname} takes ${methods}, not ${method}.`;
  return json(405, { code: 'bad_request', message, details: {} }, { allow: methods });
}

/** The terms in a body as a query has them. */
const asQuery = (body: unknown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(Object(body)).flatMap(([name, value]) => (value == null ? [] : [[name, [String(value)]]])),
  );

async function call(
  service: Service,
  { name, operation, path }: Match,
  request: SandboxRequest,
  search: string,
): Promise<SandboxResponse> {
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
  const issues = [...inPath.issues, ...body.issues, ...inQuery.issues];
  if (issues.length > 0) throw new Invalid(issues);
  await placeRows(service, now, placingBudgetMs);
  await bringUpToDate(service, now);
  // The table pairs each name with its handler; what was read above is what that handler declares.
  const run = handler as (
    service: Service,
    call: Call<OperationName>,
  ) => HandlerAnswer<OperationName> | Promise<HandlerAnswer<OperationName>>;
  const answered = await run(service, {
    caller,
    path: inPath.values,
    query: inQuery.values,
    body: body.value,
    request,
    now,
  } as Call<OperationName>);
  if (caller) {
    const count = 'count' in answered ? answered.count : undefined;
    noteCall(service, caller.userId, now, name, { path: inPath.values, query: inQuery.values }, count);
  }
  return writeAnswer(operation.answer, answered);
}
