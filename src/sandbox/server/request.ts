import type { Operation } from '../../api/operation.ts';
import type { ValidationIssue } from '../../api/validation.ts';
import { type JsonLimits, readJson } from './read-json.ts';
import { Invalid, json } from './refusal.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** The response to a body of more than `limit` bytes. */
export const bodyTooLarge = (limit: number): SandboxResponse =>
  json(413, { code: 'bad_request', message: `The body is larger than ${limit} bytes.`, details: {} });

/** Path and query of a request target. An absolute one, as a proxy sends it, names its path too (RFC 9112, 3.2.2). */
export function readTarget(target: string): { pathname: string; search: string } {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const mark = local.indexOf('?');
  return mark < 0
    ? { pathname: local, search: '' }
    : { pathname: local.slice(0, mark), search: local.slice(mark + 1) };
}

/** Every value of each query parameter, in order. */
export function readQuery(search: string): Record<string, string[]> {
  const query: Record<string, string[]> = Object.create(null);
  if (search === '') return query;
  for (const [name, value] of new URLSearchParams(search)) {
    query[name] ??= [];
    query[name].push(value);
  }
  return query;
}

/** JSON, or a form where one is taken. A body that does not say what it is, is JSON. @throws Invalid. */
function readValue(
  declared: NonNullable<Operation['body']>,
  request: SandboxRequest,
  limits: JsonLimits,
): unknown {
  const type = (headerOf(request, 'content-type') ?? 'application/json').split(';', 1)[0]?.trim() ?? '';
  if (/^application\/(?:[\w.-]+\+)?json$/i.test(type)) return readJson(request.body, limits);
  if (declared.form && /^application\/x-www-form-urlencoded$/i.test(type)) {
    const form = new URLSearchParams(Buffer.from(request.body).toString('utf8'));
    return Object.fromEntries([...form].filter(([name]) => declared.form?.includes(name)));
  }
  const msg = `The body should be JSON: Content-Type application/json, not ${type.slice(0, 100)}`;
  throw new Invalid([{ loc: ['body'], msg, type: 'content_type' }]);
}

/** The largest part of the program: a process that only reads orders never loads it. To ask the loader again takes its time. */
let shapes: Promise<typeof import('../../api/schemas/check.ts')> | undefined;

interface ReadBody {
  readonly value: unknown;
  readonly issues: readonly ValidationIssue[];
}

/** The body, held against its shape. @throws Invalid where it is missing or no JSON. */
export async function readBody(
  declared: Operation['body'],
  request: SandboxRequest,
  limits: JsonLimits,
): Promise<ReadBody> {
  if (!declared) return { value: undefined, issues: [] };
  const { body } = request;
  if (body.length === 0) {
    if (!declared.optional) throw new Invalid([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
    return { value: {}, issues: [] };
  }
  const value = readValue(declared, request, limits);
  if (value === null && declared.optional) return { value: {}, issues: [] };
  shapes ??= import('../../api/schemas/check.ts');
  const { checkShape } = await shapes;
  const checked = checkShape(declared.schema, value, 'body');
  return checked.issues ? { value: undefined, issues: checked.issues } : { value: checked.value, issues: [] };
}
