import type { Operation } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import type { ValidationIssue } from '../../api/validation.ts';
import { Invalid, json } from './refusal.ts';
import type { Found } from './routes.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** The response to a body larger than `limit` bytes. */
export const bodyTooLarge = (limit: number): SandboxResponse =>
  json(413, { code: 'bad_request', message: `The body is larger than ${limit} bytes.`, details: {} });

/** Splits a request target into path and query. Accepts absolute targets, as sent by proxies (RFC 9112, 3.2.2). */
export function readTarget(target: string): { pathname: string; search: string } {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const mark = local.indexOf('?');
  return mark < 0
    ? { pathname: local, search: '' }
    : { pathname: local.slice(0, mark), search: local.slice(mark + 1) };
}

/** All values of each query parameter, in order. */
export function readQuery(search: string): Record<string, string[]> {
  const query: Record<string, string[]> = Object.create(null);
  if (search === '') return query;
  for (const [name, value] of new URLSearchParams(search)) {
    query[name] ??= [];
    query[name].push(value);
  }
  return query;
}

/** Parses JSON, or a form if forms are allowed. A body without a content type counts as JSON. @throws Invalid. */
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

/**
 * Caches the import of the largest module. A process that only reads orders never loads that module, because the import
 * is lazy.
 */
let shapes: Promise<typeof import('../../api/schemas/check.ts')> | undefined;

interface ReadBody {
  readonly value: unknown;
  readonly issues: readonly ValidationIssue[];
}

/**
 * Parses the body and validates it against its schema. Returns the validation issues. @throws Invalid if the body is
 * missing or is not valid JSON.
 */
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

const maxDepth = 100;
const decoder = new TextDecoder('utf-8', { fatal: true });

interface JsonLimits {
  /** Maximum number of entries in each array or object. */
  readonly entries: number;
  /** Maximum number of values in the whole body. */
  readonly values: number;
}

/**
 * Parses a JSON request body. Answers 422 if the body is not valid UTF-8 or JSON, has duplicate keys or a `__proto__`
 * key, is nested deeper than 100 levels, or exceeds a limit. @throws Invalid.
 */
export function readJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw malformed('the body is not UTF-8 text', 'json_invalid');
  }
  guard(text, limits);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed(
      `JSON decode error: ${error instanceof Error ? error.message : String(error)}`,
      'json_invalid',
    );
  }
}

const malformed = (msg: string, type: string): Invalid => new Invalid([{ loc: ['body'], msg, type }]);

const marks = '{}[]:,';

/** An array or object that has not been closed yet. */
interface Open {
  /** Key in the parent object; undefined in an array. */
  readonly name: string | undefined;
  /** The keys seen so far; undefined in an array. */
  readonly keys: Set<string> | undefined;
  entries: number;
}

/** Checks depth, keys and entry counts in a single pass over the text, before parsing it. */
function guard(text: string, limits: JsonLimits): void {
  const open: Open[] = [];
  // Start and end of the last string. If anything but whitespace has followed that string, `end` is 0.
  let [start, end] = [0, 0];
  let name: string | undefined;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (mark === '"') {
      [start, end] = [at, endOfString(text, at)];
      at = end - 1;
      continue;
    }
    if (!marks.includes(mark)) continue;
    const within = open.at(-1);
    if (mark === '{' || mark === '[') {
      open.push({ name, keys: mark === '{' ? new Set() : undefined, entries: 1 });
      if (open.length > maxDepth) throw malformed(`nested deeper than ${maxDepth} levels`, 'recursion_loop');
    } else if (mark === '}' || mark === ']') open.pop();
    else if (mark === ',' && within) {
      within.entries += 1;
      values += 1;
      if (within.entries > limits.entries) throw tooLong(open, limits.entries);
      if (values > limits.values)
        throw malformed(`the body should have at most ${limits.values} values`, 'too_long');
    } else if (mark === ':' && end > 0) name = noteKey(within?.keys, text.slice(start, end));
    if (mark !== ':') name = undefined;
    end = 0;
  }
}

function tooLong(open: readonly Open[], limit: number): Invalid {
  const names = open.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const what = open.at(-1)?.keys ? 'Dictionary' : 'List';
  return new Invalid([
    { loc: ['body', ...names], msg: `${what} should have at most ${limit} items`, type: 'too_long' },
  ]);
}

/** Index just past the string that begins at `start`; the text's length if it is unterminated. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote;
  }
  return text.length;
}

/** @returns the key. */
function noteKey(keys: Set<string> | undefined, token: string): string {
  const key = unquoted(token);
  if (key === '__proto__') throw malformed('the key __proto__ is not permitted', 'extra_forbidden');
  if (keys?.has(key)) throw malformed(`the key ${token} is given twice`, 'duplicate_key');
  keys?.add(key);
  return key;
}

function unquoted(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/** Limits on the size of a request, so that no request blocks others for long. The specification sets no limit. */
interface BodyLimits extends JsonLimits {
  readonly bytes: number;
}

/** Limits for bodies of orders, returns and accounts. */
export const defaultLimits: BodyLimits = { bytes: 1024 * 1024, entries: 1_000, values: 20_000 };
/** For tables of rows. */
const tableLimits: BodyLimits = { bytes: 10 * 1024 * 1024, entries: 10_000, values: 300_000 };

/** The body limits of an operation. */
export function limitsOf(name: OperationName): BodyLimits {
  const operation = operations[name];
  return 'body' in operation && operation.body.schema === 'BulkUploadRequest' ? tableLimits : defaultLimits;
}

/** The body limits for a route. */
export const limitsFor = (found: Found): BodyLimits =>
  'kind' in found && found.kind === 'operation' ? limitsOf(found.name) : defaultLimits;
