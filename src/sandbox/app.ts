import { randomUUID } from 'node:crypto';
import { isControl } from '../api/control.ts';
import type { Operation, SuccessResponse } from '../api/operation.ts';
import { readParameters } from '../api/operation.ts';
import { type OperationName, operations } from '../api/operations/index.ts';
import { setTimeout } from '../platform/own-timers.ts';
import { DatabaseError } from '../platform/sqlite/database-error.ts';
import { accountHandlers } from './accounts/handlers.ts';
import { bulkHandlers } from './bulk/handlers.ts';
import { placeRows } from './bulk/place-rows.ts';
import { productHandlers, retailerHandlers } from './catalogue/handlers.ts';
import { isAnythingDue, runDueTransitions } from './control/due-transitions.ts';
import { fireTrigger } from './control/trigger.ts';
import { deviceHandlers, keyHandlers } from './keys/handlers.ts';
import { orderHandlers, retryHandlers } from './orders/handlers.ts';
import { agentHandlers } from './payments/handlers.ts';
import { isProbe, probeResponse } from './payments/till.ts';
import { returnHandlers } from './returns/handlers.ts';
import { labelResponse } from './returns/labels.ts';
import { findRoute } from './routes.ts';
import { forReader, prefersHtml } from './server/browser.ts';
import { identify } from './server/caller.ts';
import type { AllHandlers, Call, HandlerResult } from './server/handler.ts';
import { refusedHost } from './server/hosts.ts';
import { ErrorResponse, Invalid, json, responseTo } from './server/refusal.ts';
import { bodyTooLarge, limitsFor, limitsOf, readBody, readQuery, readTarget } from './server/request.ts';
import { decoded, type Match } from './server/routes.ts';
import type { Service } from './server/service.ts';
import { type Handle, headerOf, type SandboxRequest, type SandboxResponse } from './server/wire.ts';
import { moneyHandlers } from './wallet/handlers.ts';
import { recordCall } from './wallet/usage.ts';
import { webhookHandlers } from './webhooks/handlers.ts';

const descriptionHandlers = {
  'openapi.get': async ({ config, catalogue }) => {
    const { openApiDocument } = await import('../api/openapi.ts');
    const document = openApiDocument({
      baseUrl: config.baseUrl,
      legacyBaseUrl: config.baseUrl,
      retailers: (await catalogue()).retailerIds(),
    });
    return { text: JSON.stringify(document) };
  },
} satisfies Partial<AllHandlers>;

/** The handler of each operation in the API table. */
const handlers: AllHandlers = {
  ...accountHandlers,
  ...agentHandlers,
  ...bulkHandlers,
  ...descriptionHandlers,
  ...deviceHandlers,
  ...keyHandlers,
  ...retryHandlers,
  ...moneyHandlers,
  ...orderHandlers,
  ...productHandlers,
  ...retailerHandlers,
  ...returnHandlers,
  ...webhookHandlers,
};

let shapes: Promise<typeof import('../api/schemas/check.ts')> | undefined;

/**
 * Converts a handler's result to a response. Validates the value against the contract, so that sandbox and contract
 * cannot drift apart.
 * @throws Error for a value that violates its schema, which is a bug in the sandbox.
 */
async function writeResponse(
  declared: SuccessResponse,
  result: HandlerResult<OperationName>,
): Promise<SandboxResponse> {
  if ('empty' in result) return { status: declared.status, headers: {}, body: null };
  if ('csv' in result) {
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${result.filename}"`,
    };
    return { status: declared.status, headers, body: result.csv };
  }
  if ('text' in result) {
    const headers = { 'content-type': 'application/json', ...result.headers };
    return { status: declared.status, headers, body: result.text };
  }
  if (declared.type === 'json') {
    shapes ??= import('../api/schemas/check.ts');
    const { checkShape } = await shapes;
    const { issues: found = [] } = checkShape(declared.schema, result.value, 'response');
    const issues = result.isStored ? found.filter(({ type }) => type !== 'extra_forbidden') : found;
    if (issues.length > 0)
      throw new Error(
        `the sandbox's own response breaks ${declared.schema}: ${JSON.stringify(issues.slice(0, 5))}`,
      );
  }
  return json(declared.status, result.value, result.headers);
}

/** Maximum time, in ms, that a request may spend on placing due batch rows. */
const placingBudgetMs = 40;

/**
 * Writes that, like reads, need not wait for all due work. Every other write changes an order and must see the order's
 * current state.
 */
const writesWithoutCatchUp: ReadonlySet<OperationName> = new Set<OperationName>([
  'order.create',
  'bulk.create',
  'bulk.validate',
]);

/** Converts body fields to query parameters. */
const asQuery = (body: unknown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(Object(body)).flatMap(([name, value]) => (value == null ? [] : [[name, [String(value)]]])),
  );

/** Parses a request according to its row in the API table and calls the handler. @throws Refusal, Invalid. */
async function callOperation(
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
    throw new ErrorResponse('forbidden', 'This temporary key reads one order only.');
  const handler = handlers[name];
  const raw = Object.fromEntries(Object.entries(path).map(([key, value]) => [key, [value]]));
  const inPath = readParameters(operation.pathParameters ?? {}, [], 'path', raw);
  const rawQuery = readQuery(search);
  if (isProbe(name, request, rawQuery)) throw await probeResponse(service, name, { request, rawQuery, now });
  const body = await readBody(operation.body, request, limitsOf(name));
  const terms = operation.body?.joinsQuery ? { ...rawQuery, ...asQuery(body.value) } : rawQuery;
  const inQuery = readParameters(operation.query ?? {}, operation.rules ?? [], 'query', terms);
  // If a body field has the wrong type, do not also report it as a missing query parameter.
  const isBodyWrong = operation.body?.joinsQuery === true && body.issues.length > 0;
  const issues = [...inPath.issues, ...body.issues, ...(isBodyWrong ? [] : inQuery.issues)];
  if (issues.length > 0) throw new Invalid(issues);
  const skipsCatchUp = operation.method === 'GET' || writesWithoutCatchUp.has(name);
  const budgetMs = skipsCatchUp ? service.readBudget.forRead(now) : Number.POSITIVE_INFINITY;
  await placeRows(service, now, Math.min(placingBudgetMs, budgetMs));
  await runDueTransitions(service, now, budgetMs);
  // The cast is safe because the table pairs each name with its handler, and the handler's declared parameters were
  // parsed above.
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
  const result = await called(() => service.scheduler.ahead(async () => run(service, call)));
  if (caller) {
    const count = 'count' in result ? result.count : undefined;
    recordCall(service, caller.userId, now, name, { path: inPath.values, query: inQuery.values }, count);
  }
  return writeResponse(operation.response, result);

  /** Runs an attempt. If funds are insufficient, processes pending work, which may release funds, and tries again. */
  async function called<R>(attempt: () => Promise<R>): Promise<R> {
    try {
      return await attempt();
    } catch (error) {
      const isShort = error instanceof ErrorResponse && error.code === 'insufficient_funds';
      if (!isShort || !isAnythingDue(service.store, now)) throw error;
    }
    await runDueTransitions(service, now);
    return attempt();
  }
}

const given = /^[\w.:-]{1,100}$/;

type Finish = (
  request: Pick<SandboxRequest, 'target' | 'headers'>,
  response: SandboxResponse,
) => SandboxResponse;

/**
 * Returns a function that adds the common headers to every response of one service: a request id (the caller's id if
 * the request has one), the auth scheme on a 401, and headers that prevent caching and MIME sniffing.
 */
function finisher(): Finish {
  const name = randomUUID().slice(0, 13);
  let count = 0;
  return (request, response) => {
    count += 1;
    const own = headerOf(request, 'x-request-id') ?? '';
    const { status, headers } = response;
    return {
      ...response,
      headers: {
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        ...(status === 401 && { 'www-authenticate': scheme(request) }),
        ...headers,
        'x-request-id': given.test(own) ? own : `${name}-${count}`,
      },
    };
  };
}

const scheme = ({ target }: Pick<SandboxRequest, 'target'>): string =>
  decoded(readTarget(target).pathname.split('/', 2)[1] ?? '') === 'v1' ? 'Basic realm="legacy"' : 'Bearer';

/**
 * The service as a function from request to response, without a socket. A bug becomes a 500 and is passed to the
 * service's `report`.
 * @throws DatabaseError for problems with the store's file, which in-process callers have to fix themselves.
 */
export function createApp(service: Service): Handle {
  const finish = finisher();
  const respond = async (request: SandboxRequest): Promise<SandboxResponse> => {
    service.scheduler.started();
    try {
      // Latency applies between clients and the service, not to people watching in the console.
      if (service.config.latencyMs > 0 && !isSpared(request))
        await new Promise((resolve) => setTimeout(resolve, service.config.latencyMs));
      const response = await dispatch(service, request);
      service.deliver();
      return response;
    } catch (error) {
      const errorResponse = responseTo(error);
      if (errorResponse) return errorResponse;
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

const isSpared = (request: SandboxRequest): boolean =>
  prefersHtml(headerOf(request, 'accept')) || isControl(readTarget(request.target).pathname);

async function dispatch(service: Service, request: SandboxRequest): Promise<SandboxResponse> {
  const { pathname, search } = readTarget(request.target);
  const found = findRoute(request.method, pathname, prefersHtml(headerOf(request, 'accept')));
  const { bytes } = limitsFor(found);
  if (request.body.length > bytes) return forReader(request, bodyTooLarge(bytes));
  const elsewhere = await refusedHost(request, service.config);
  if (elsewhere) return elsewhere;
  if (service.store.unwritable && request.method !== 'GET') throw service.store.unwritable;
  if ('allowed' in found) return await unknownRoute(request, pathname, found.allowed);
  switch (found.kind) {
    case 'operation':
      return callOperation(service, found, request, search);
    case 'label':
      return labelResponse(service, found.path, search);
    case 'trigger':
      return fireTrigger(service, request);
    case 'control': {
      const { controlSandbox } = await import('./control/surface.ts');
      return controlSandbox(service, request, found.path);
    }
    case 'health':
      if (service.store.unwritable) throw service.store.unwritable;
      return json(200, { status: 'ok' });
    case 'page': {
      // Import lazily, because the CLI's embedded sandbox serves no pages.
      const { showPage } = await import('./console/pages.ts');
      return showPage(found.name, { service, request, path: found.path, search });
    }
  }
}

async function unknownRoute(
  { method, headers }: SandboxRequest,
  pathname: string,
  allowed: readonly string[],
): Promise<SandboxResponse> {
  // Every path that supports GET supports HEAD.
  const methods = allowed.flatMap((name) => (name === 'GET' ? [name, 'HEAD'] : [name])).join(', ');
  if (prefersHtml(headerOf({ headers }, 'accept'))) {
    const { unknownPage } = await import('./console/html.ts');
    return unknownPage(method, pathname, methods);
  }
  if (allowed.length === 0) {
    return json(404, {
      code: 'not_found',
      message: `There is nothing at ${method} ${pathname}.`,
      details: {},
    });
  }
  const message = `${pathname} takes ${methods}, not ${method}.`;
  return json(405, { code: 'bad_request', message, details: {} }, { allow: methods });
}
