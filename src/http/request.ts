import type { ErrorCode } from '../api/error-codes.ts';
import {
  type Auth,
  type Operation,
  type ParameterValues,
  type RetryPolicy,
  type Surface,
  wireTexts,
  writeParameters,
} from '../api/operation.ts';
import { findOperation, isRead, pathPattern } from '../api/operations/find.ts';
import { operations } from '../api/operations/index.ts';
import { refusalCodes } from '../api/refusals.ts';
import { issueText } from '../api/validation.ts';
import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { hasCredentials, hasQuery, trimSlashes, withPlainLetters } from '../platform/net/urls.ts';
import { parseJson } from './response.ts';

/** The service as the settings name it. */
export interface Service {
  readonly base: URL;
  readonly legacyBase: URL | undefined;
  readonly userAgent: string;
}

/** What an operation is called with; already typed by whoever calls. */
export interface Input {
  readonly path?: ParameterValues | undefined;
  readonly query?: ParameterValues | undefined;
  readonly body?: unknown;
}

/** A request that is ready but for its credential. */
export interface Prepared {
  readonly method: string;
  readonly url: URL;
  /** The address is a permission: messages name its origin alone. */
  readonly isLink?: boolean;
  /** Lower-case names; without `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly auth: Auth;
  /** It goes without a credential where there is none. */
  readonly isKeyOptional?: boolean;
  /** The order that it reads. */
  readonly orderId?: string | undefined;
  readonly retry: RetryPolicy;
  /** Makes it the same request however often it is sent. */
  readonly idempotencyKey?: string | undefined;
  readonly movesMoney: boolean;
  /** Codes with which the service refuses it, validation aside. */
  readonly refusals: readonly ErrorCode[];
}

const mostIssues = 10;

/** Puts a call in its form on the wire. @throws UsageError naming the parameter that is wrong. */
export function prepare(
  service: Service,
  operation: Operation,
  { path = {}, query = {}, body }: Input,
): Prepared {
  const { pathParameters = {}, query: querySpecs = {}, rules = [], auth, method } = operation;
  const inPath = writeParameters(pathParameters, [], 'path', path);
  const inQuery = writeParameters(querySpecs, rules, 'query', query);
  const issues = [...inPath.issues, ...inQuery.issues];
  if (issues.length > 0) {
    const messages = issues.slice(0, mostIssues).map((issue) => issueText(issue));
    throw new UsageError(messages.join('; '), { code: 'validation_error', details: issues });
  }
  const filled = fillPath(operation.path, path);
  const pathAndQuery =
    inQuery.pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(inQuery.pairs)}`;
  return {
    method,
    url: underBase(baseOf(service, operation.surface), pathAndQuery),
    headers: {
      accept: operation.response.type === 'csv' ? 'text/csv' : 'application/json',
      'user-agent': service.userAgent,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : wireBody(body),
    auth,
    orderId: method === 'GET' && typeof path.order_id === 'string' ? path.order_id : undefined,
    retry: retryPolicyOf(operation, body),
    idempotencyKey: operation.retry === 'idempotency_key' ? keyIn(body) : undefined,
    movesMoney: operation.movesMoney === true,
    refusals: refusalCodes(operation),
  };
}

/** A body as the bytes that are sent: a payment may be bound to them. */
export function wireBody(body: unknown): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(body));
  } catch (cause) {
    const [why = ''] = cause instanceof Error ? cause.message.split('\n') : [];
    throw new UsageError(`body: it cannot be written as JSON: ${why}`, { cause });
  }
}

/** @throws UsageError where the legacy surface is called and no address of it is known. */
function baseOf({ base, legacyBase }: Service, surface: Surface): URL {
  if (surface === 'current') return base;
  if (legacyBase) return legacyBase;
  throw new UsageError('the address of the legacy service is not known; set ERRAND_LEGACY_BASE_URL');
}

/** Without a key in it each order sent would be another one: the service makes a key of its own each time. */
function retryPolicyOf({ retry }: Pick<Operation, 'retry'>, body: unknown): RetryPolicy {
  if (retry !== 'idempotency_key') return retry;
  return keyIn(body) === undefined ? 'never' : retry;
}

function keyIn(body: unknown): string | undefined {
  const { idempotency_key: key } = Object(body);
  return typeof key === 'string' && key !== '' ? key : undefined;
}

/** Nothing is bought without a payment: such a request only asks for the challenge. */
export const unpaid = (request: Prepared): Prepared => ({ ...request, retry: 'safe', movesMoney: false });

/** The request as messages name it: `POST https://host/orders`. */
export const requestLine = ({ method, url, isLink }: Pick<Prepared, 'method' | 'url' | 'isLink'>): string =>
  isLink ? `the download from ${shownOrigin(url)}` : `${method} ${shownUrl(url)}`;

function fillPath(template: string, values: ParameterValues): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const [text = ''] = wireTexts(values[name] ?? null);
    // A URL takes these for steps through the path, escaped or not.
    if (text === '.' || text === '..') throw new UsageError(`${name}: "${text}" is not a valid id`);
    return encodeURIComponent(text);
  });
}

/** The scheme of the sandbox inside this process: `embedded:` is its base URL, `embedded:/orders` an address in it. */
export const embeddedScheme = 'embedded:';

/**
 * Parses a base URL and refuses what no key may be sent to. The settings have said so before, naming the setting;
 * this is the last door.
 * @throws UsageError.
 */
export function checkedBase(text: string, allowPlainHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === embeddedScheme) return url;
  if (!url || hasCredentials(url) || hasQuery(url)) {
    throw new UsageError('the base URL is not one: it takes https://host/path');
  }
  if (!isSafeToSend(url, allowPlainHttp)) {
    throw new UsageError(
      `the base URL ${url.origin} is plain http, or no web address: a key would cross the network in clear`,
    );
  }
  return url;
}

/** https, plain http to this machine, or plain http where the profile allows it. */
export function isSafeToSend(url: URL, allowPlainHttp: boolean): boolean {
  if (url.protocol === 'https:' || url.protocol === embeddedScheme) return true;
  return url.protocol === 'http:' && (allowPlainHttp || isLoopback(url.hostname));
}

/** Scheme, host and port are the same. `URL.origin` would be `null` for the embedded sandbox. */
export const isSameOrigin = (a: URL, b: URL): boolean => a.protocol === b.protocol && a.host === b.host;

/** Puts an absolute path and its query under a base URL. */
function underBase(base: URL, pathAndQuery: string): URL {
  return new URL(`${trimSlashes(base.href)}${pathAndQuery}`);
}

/** A URL as it may be shown: without credentials, query and fragment, which may hold secrets. */
export const shownUrl = (url: URL): string => `${shownOrigin(url)}${url.pathname}`;

/** `URL.origin` would be `null` for the embedded sandbox. */
export const shownOrigin = ({ protocol, host }: URL): string =>
  host === '' ? protocol : `${protocol}//${host}`;

/** What the command line asks for, as far as its words say. */
export interface Target {
  readonly method: string;
  /** Begins with a slash; with the query as it was given. */
  readonly path: string;
  readonly surface: Surface;
  /** The row of the table, where there is one. */
  readonly operation: Operation | undefined;
}

interface Bases {
  readonly base: string;
  readonly legacyBase: string;
}

const methodWord = /^[A-Za-z]{1,20}$/;
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];
const scheme = /^[a-z][a-z0-9+.-]*:/i;

/** Paths of the legacy service begin with a part of their own. */
const legacyParts = new Set(
  Object.values<Operation>(operations)
    .filter(({ surface }) => surface === 'legacy')
    .map(({ path }) => firstPart(path)),
);

/**
 * Reads `[METHOD] PATH`. Without a method it is GET, or POST where something is sent.
 * @throws UsageError for words that are neither, and for an address of another origin.
 */
export function readTarget(
  [first, second]: readonly [string, string | undefined],
  sends: boolean,
  bases: Bases,
): Target {
  if (second === undefined && methods.includes(first.toUpperCase())) {
    throw new UsageError(`the path is missing: errand api ${first.toUpperCase()} PATH`);
  }
  if (second !== undefined && !methodWord.test(first)) {
    throw new UsageError(`"${first}" is not an HTTP method; the method comes first, then the path`);
  }
  const method = second === undefined ? (sends ? 'POST' : 'GET') : first.toUpperCase();
  const word = second ?? first;
  const path = isAddress(word) ? pathOf(word, bases) : `/${word.replace(/^\//, '')}`;
  const surface = legacyParts.has(firstPart(path)) ? 'legacy' : 'current';
  const operation = operationOf({ method, path, surface });
  if (!operation) refuseLookalike(method, path);
  return { method, path, surface, operation };
}

/**
 * A server may be lenient with capitals and a slash at the end: such a spelling of a path that makes an order must not
 * pass the journal and the policy. @throws UsageError naming the path.
 */
function refuseLookalike(method: string, path: string): void {
  const [bare = ''] = path.split('?', 1);
  const similar = findOperation(method, trimSlashes(bare.toLowerCase()));
  if (!similar?.once) return;
  throw new UsageError(
    `${method} ${path} is not a path of the service; ${method} ${similar.path} is, and goes through the journal`,
  );
}

function firstPart(path: string): string {
  return path.split(/[/?]/)[1] ?? '';
}

/** Whether a word is an address and no path. */
export const isAddress = (word: string): boolean => scheme.test(word);

/**
 * The path of an address under one of the base URLs: the key goes nowhere else.
 * @throws UsageError for any other address.
 */
function pathOf(address: string, { base, legacyBase }: Bases): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  for (const text of [base, legacyBase]) {
    const root = new URL(text);
    const prefix = trimSlashes(root.pathname);
    const isUnder = url && isSameOrigin(url, root) && url.pathname.startsWith(`${prefix}/`);
    if (isUnder) return url.pathname.slice(prefix.length) + url.search;
  }
  throw new UsageError(
    `${url?.host ? url.origin : 'that address'} is not the service in use (${base}), and its key goes nowhere else; give a path, or another --base-url or --profile`,
  );
}

/** Any request to the service, as the `api` command takes it. */
export interface RawRequest {
  readonly method: string;
  /** Absolute under the base URL, with or without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly surface?: Surface | undefined;
  /** It goes without a key, and none is made for it. */
  readonly isKeyless?: boolean;
}

/** Headers that belong to the connection. */
const ownHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|accept-encoding|proxy-.*)$/;
/** Words in the names of headers by which gateways take another method or path than the request has; `curl` is none. */
const steering = /path|(?<!c)ur[il]|prefix|method|rewrite|override/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Puts any request in its form on the wire. What the table says of its method and path (credential, retries, money)
 * holds; of an unknown one only reads are sent twice.
 * @throws UsageError for a method, path or header that is none.
 */
export function prepareRaw(
  service: Service,
  { method, path: given, query = {}, headers = {}, body, surface = 'current', isKeyless = false }: RawRequest,
): Prepared {
  const path = plainPath(given);
  const verb = method.toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(verb) || verb === 'CONNECT' || verb === 'TRACE')
    throw new UsageError(`"${method}" is not an HTTP method`);
  const url = addressOf(service, surface, path, query);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const operation = operationOf({ method, path: given, surface });
  const own = checkedHeaders(headers);
  return {
    method: verb,
    url,
    headers: {
      accept: operation?.response.type === 'csv' ? 'text/csv' : 'application/json',
      'user-agent': service.userAgent,
      ...(bytes && { 'content-type': 'application/json' }),
      ...own,
    },
    body: bytes,
    auth: isKeyless || own.authorization !== undefined ? 'none' : (operation?.auth ?? defaultAuth[surface]),
    isKeyOptional: operation === undefined,
    retry: operation ? retryPolicyOf(operation, bytes && parseJson(bytes)) : isRead(verb) ? 'safe' : 'never',
    movesMoney: operation?.movesMoney === true,
    refusals: operation ? refusalCodes(operation) : [],
  };
}

/**
 * A path in its one form, so that no spelling of an operation passes for an unknown one: letters, digits, `-._~` are
 * not escaped. Steps within it (`..`, `//`) are refused. Pure. @throws UsageError.
 */
function plainPath(given: string): string {
  const [bare = ''] = given.split('?', 1);
  const plain = withPlainLetters(bare);
  if (!/\/\/|\/\.\.?(?:\/|$)/.test(plain)) return plain + given.slice(bare.length);
  throw new UsageError(`the path "${given}" has empty parts or steps ("..") in it; write it without`);
}

/**
 * The operation of the table that a request calls. A write is known by its path as it is written. Pure.
 * @throws UsageError for a path with steps in it.
 */
function operationOf({
  method: given,
  path: written,
  surface = 'current',
}: Pick<RawRequest, 'method' | 'path' | 'surface'>): Operation | undefined {
  const method = given.toUpperCase();
  const plain = plainPath(written);
  const [path = ''] = (isRead(method) ? plain : written).split('?', 1);
  const found = findOperation(method, path);
  return found?.surface === surface ? found : undefined;
}

/** What stands in a path in the place of the parameters of its operation, as it is written there. Pure. */
export const pathParametersOf = (operation: Operation, path: string): Readonly<Record<string, string>> => ({
  ...pathPattern(operation).exec(path)?.groups,
});

/** Of an unknown path the credential of its surface. */
const defaultAuth = { current: 'bearer', legacy: 'basic' } as const satisfies Record<
  Surface,
  Prepared['auth']
>;

function addressOf(
  service: Service,
  surface: Surface,
  path: string,
  query: NonNullable<RawRequest['query']>,
): URL {
  if (!/^\/(?!\/)[^\s#\\]*$/.test(path)) {
    throw new UsageError(
      `the path "${path}" is not valid; it begins with one "/" and stands under the base URL: /orders?limit=5`,
    );
  }
  const base = baseOf(service, surface);
  const url = underBase(base, path);
  for (const [name, value] of Object.entries(query)) {
    for (const text of typeof value === 'string' ? [value] : value) url.searchParams.append(name, text);
  }
  if (isSameOrigin(url, base)) return url;
  throw new UsageError(`the path "${path}" leads away from the base URL`);
}

function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const checked = Object.entries(headers).map(([name, value]): [string, string] => {
    const lower = name.toLowerCase();
    if (!headerName.test(name) || ownHeaders.test(lower.replaceAll('_', '-')) || steering.test(lower))
      throw new UsageError(`the header "${name}" cannot be set`);
    if (!headerValue.test(value))
      throw new UsageError(`the value of header "${name}" holds characters that no header has`);
    return [lower, value];
  });
  return Object.fromEntries(checked);
}
