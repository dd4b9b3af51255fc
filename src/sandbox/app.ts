import type { OperationName } from '../contract/operations/index.ts';
import { readParameters } from '../contract/parameters.ts';
import { checkShape } from '../contract/schemas/check.ts';
import { bringUpToDate } from './advance.ts';
import { identify } from './caller.ts';
import type { Call, HandlerAnswer, Service } from './handler.ts';
import { handlers } from './handlers/index.ts';
import { page } from './pages/index.ts';
import { readJson } from './read-json.ts';
import { answerTo, Invalid, json, Refusal } from './refusal.ts';
import { type Match, route } from './router.ts';
import { noteCall } from './usage.ts';
import type { Handle, SandboxRequest, SandboxResponse } from './wire.ts';

/** Largest request body, bytes. */
export const largestBody = 10 * 1024 * 1024;

/** The service as a function: a request in, an answer out, no socket. Never throws; a bug is a 500 and told to `report`. */
export function createApp(service: Service, report: (error: unknown) => void): Handle {
  return async (request) => {
    try {
      if (service.config.latencyMs > 0)
        await new Promise((resolve) => setTimeout(resolve, service.config.latencyMs));
      return await answer(service, request);
    } catch (error) {
      const refused = answerTo(error);
      if (refused) return refused;
      report(error);
      return json(500, {
        code: 'internal_error',
        message: 'The sandbox failed; this is a bug in it.',
        details: {},
      });
    }
  };
}

async function answer(service: Service, request: SandboxRequest): Promise<SandboxResponse> {
  const [pathname = '/', search = ''] = request.target.split('?', 2);
  const shown = page(service, request.method, pathname);
  if (shown) return shown;
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
  const message = `${pathname} takes ${allowed.join(', ')}, not ${method}.`;
  return json(405, { code: 'bad_request', message, details: {} }, { allow: allowed.join(', ') });
}

async function call(
  service: Service,
  { name, operation, path }: Match,
  request: SandboxRequest,
  search: string,
): Promise<SandboxResponse> {
  const now = service.clock.now();
  const caller = identify(service.store, operation.auth, request, now);
  if (caller?.orderId && name !== 'order.get')
    throw new Refusal('forbidden', 'This temporary key reads one order only.');
  const handler = handlers[name];
  if (!handler)
    throw new Refusal(
      'service_unavailable',
      `The sandbox does not answer ${operation.method} ${operation.path} yet.`,
    );
  const raw = Object.fromEntries(Object.entries(path).map(([key, value]) => [key, [value]]));
  const inPath = readParameters(operation.pathParameters ?? {}, [], 'path', raw);
  const inQuery = readParameters(operation.query ?? {}, operation.rules ?? [], 'query', queryOf(search));
  const body = readBody(operation.body, request);
  const issues = [...inPath.issues, ...inQuery.issues, ...body.issues];
  if (issues.length > 0) throw new Invalid(issues);
  await bringUpToDate(service, now);
  const values = Object.fromEntries(
    Object.entries(inPath.values).map(([key, value]) => [key, String(value)]),
  );
  // The table pairs each name with its handler; what was read above is what that handler declares.
  const run = handler as (
    service: Service,
    call: Call<OperationName>,
  ) => HandlerAnswer<OperationName> | Promise<HandlerAnswer<OperationName>>;
  const answered = await run(service, {
    caller,
    path: values,
    query: inQuery.values,
    body: body.value,
    request,
    now,
  } as Call<OperationName>);
  if (caller)
    noteCall(
      service.store,
      caller.userId,
      now,
      name,
      { path: values, query: inQuery.values },
      'count' in answered ? answered.count : undefined,
    );
  return written(operation.answer, answered);
}

function queryOf(search: string): Record<string, string[]> {
  const query: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(search)) query[name] = [...(query[name] ?? []), value];
  return query;
}

function readBody(
  wanted: Match['operation']['body'],
  request: SandboxRequest,
): { value: unknown; issues: readonly Invalid['issues'][number][] } {
  if (request.body.length > largestBody)
    throw new Refusal('bad_request', `The body is larger than ${largestBody} bytes.`);
  if (!wanted) return { value: undefined, issues: [] };
  if (request.body.length === 0) {
    if (!wanted.optional) throw new Invalid([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
    return { value: {}, issues: [] };
  }
  const checked = checkShape(wanted.schema, readJson(request.body), 'body');
  return checked.issues ? { value: undefined, issues: checked.issues } : { value: checked.value, issues: [] };
}

/** The answer on the wire; a value is held against the contract first, so that the two cannot drift apart. */
function written(
  wanted: Match['operation']['answer'],
  answered: HandlerAnswer<OperationName>,
): SandboxResponse {
  if ('empty' in answered) return { status: wanted.status, headers: {}, body: null };
  if ('csv' in answered) {
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${answered.filename}"`,
    };
    return { status: wanted.status, headers, body: answered.csv };
  }
  if ('text' in answered)
    return { status: wanted.status, headers: { 'content-type': 'application/json' }, body: answered.text };
  if (wanted.type === 'json') {
    const checked = checkShape(wanted.schema, answered.value, 'answer');
    if (checked.issues)
      throw new Error(
        `the sandbox's own answer breaks ${wanted.schema}: ${JSON.stringify(checked.issues.slice(0, 5))}`,
      );
  }
  return json(wanted.status, answered.value, answered.headers);
}
