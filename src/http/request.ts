import type { ErrorCode } from '../api/error-codes.ts';
import type { Auth } from '../api/error-types.ts';
import {
  type Operation,
  type ParameterValues,
  type RetryPolicy,
  type Surface,
  wireTexts,
  writeParameters,
} from '../api/operation.ts';
import { findOperation, isRead, pathPattern } from '../api/operations/find.ts';
import { operations } from '../api/operations/index.ts';
import { errorResponseCodes } from '../api/refusals.ts';
import { issueText } from '../api/validation.ts';
import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { hasCredentials, hasQuery, parseUrl, trimSlashes, withPlainLetters } from '../platform/net/urls.ts';
import { parseJson } from './response.ts';

/** The service, as configured. */
export interface Service {
  readonly base: URL;
  readonly legacyBase: URL | undefined;
  readonly userAgent: string;
}

/** Input of an operation. The type of the input was checked before. */
export interface Input {
  readonly path?: ParameterValues | undefined;
  readonly query?: ParameterValues | undefined;
  readonly body?: unknown;
}

/** A request that is complete except for its credential. */
export interface Prepared {
  readonly method: string;
  readonly url: URL;
  /** Whether the URL itself grants access. If so, messages show only the origin of the URL. */
  readonly isLink?: boolean;
  /** Lower-case names; excludes `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly auth: Auth;
  /** Whether to send the request without a credential if none is available. */
  readonly isKeyOptional?: boolean;
  /** Id of the order that the request reads. */
  readonly orderId?: string | undefined;
  readonly retry: RetryPolicy;
  /** Key by which the service recognizes a repeated request. */
  readonly idempotencyKey?: string | undefined;
  readonly movesMoney: boolean;
  /** Error codes with which the service may refuse the request. Validation errors are possible in addition. */
  readonly refusals: readonly ErrorCode[];
}

const maxIssues = 10;

/** Builds the wire form of a call. @throws UsageError naming the invalid parameter. */
export function prepare(
  service: Service,
  operation: Operation,
  { path = {}, query = {}, body }: Input,
  headers: Readonly<Record<string, string>> = {},
): Prepared {
  const { pathParameters = {}, query: querySpecs = {}, rules = [], auth, method } = operation;
  const inPath = writeParameters(pathParameters, [], 'path', path);
  const inQuery = writeParameters(querySpecs, rules, 'query', query);
  const issues = [...inPath.issues, ...inQuery.issues];
  if (issues.length > 0) {
    const messages = issues.slice(0, maxIssues).map((issue) => issueText(issue));
    throw new UsageError(messages.join('; '), { code: 'validation_error', details: issues });
  }
  const filled = fillPath(operation.path, path);
  const pathAndQuery =
    inQuery.pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(inQuery.pairs)}`;
  return {
    method,
    url: underBase(baseOf(service, operation.surface), pathAndQuery),
    headers: {
      ...checkedHeaders(headers),
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
    refusals: errorResponseCodes(operation),
  };
}

/** Serializes a body to exactly the bytes that are sent, because a payment may be bound to these bytes. */
export function wireBody(body: unknown): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(body));
  } catch (cause) {
    const [why = ''] = cause instanceof Error ? cause.message.split('\n') : [];
    throw new UsageError(`body: it cannot be written as JSON: ${why}`, { cause });
  }
}

/** @throws UsageError if an operation of the legacy surface is called and its base URL is not configured. */
function baseOf({ base, legacyBase }: Service, surface: Surface): URL {
  if (surface === 'current') return base;
  if (legacyBase) return legacyBase;
  throw new UsageError('the address of the legacy service is not known; set ERRAND_LEGACY_BASE_URL');
}

/**
 * Disables retries of a request that needs an idempotency key but has none. The service would generate a new key for
 * each attempt, and so place another order.
 */
function retryPolicyOf({ retry }: Pick<Operation, 'retry'>, body: unknown): RetryPolicy {
  if (retry !== 'idempotency_key') return retry;
  return keyIn(body) === undefined ? 'never' : retry;
}

function keyIn(body: unknown): string | undefined {
  const { idempotency_key: key } = Object(body);
  return typeof key === 'string' && key !== '' ? key : undefined;
}

/**
 * Marks a request as sent without payment, unless one of its headers may pay. A request without payment buys nothing and
 * only fetches the challenge.
 */
export const unpaid = (request: Prepared): Prepared =>
  'authorization' in request.headers || 'payment-signature' in request.headers
    ? request
    : { ...request, retry: 'safe', movesMoney: false };

/** The request in a form for messages: `POST https://host/orders`. */
export const requestLine = ({ method, url, isLink }: Pick<Prepared, 'method' | 'url' | 'isLink'>): string =>
  isLink ? `the download from ${shownOrigin(url)}` : `${method} ${shownUrl(url)}`;

function fillPath(template: string, values: ParameterValues): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const [text = ''] = wireTexts(values[name] ?? null);
    // A URL resolves `.` and `..` as path segments, even when escaped.
    if (text === '.' || text === '..') throw new UsageError(`${name}: "${text}" is not a valid id`);
    return encodeURIComponent(text);
  });
}

/**
 * Scheme of the in-process sandbox. The base URL of the sandbox is `embedded:`, and `embedded:/orders` is an address in
 * it.
 */
export const embeddedScheme = 'embedded:';

/**
 * Parses a base URL. Rejects any URL to which no key may be sent. Settings are checked earlier, with an error that
 * names the setting; this check is the last line of defense.
 * @throws UsageError.
 */
export function checkedBase(text: string, allowPlainHttp: boolean): URL {
  const url = parseUrl(text);
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

/** Whether a key may be sent to a URL: https, plain http to this machine, and plain http if the profile permits it. */
export function isSafeToSend(url: URL, allowPlainHttp: boolean): boolean {
  if (url.protocol === 'https:' || url.protocol === embeddedScheme) return true;
  return url.protocol === 'http:' && (allowPlainHttp || isLoopback(url.hostname));
}

/** Compares scheme, host and port. `URL.origin` would be `null` for the embedded sandbox. */
export const isSameOrigin = (a: URL, b: URL): boolean => a.protocol === b.protocol && a.host === b.host;

/** Appends an absolute path with its query to a base URL. */
function underBase(base: URL, pathAndQuery: string): URL {
  return new URL(`${trimSlashes(base.href)}${pathAndQuery}`);
}

/** A URL that is safe to show. Leaves out credentials, query and fragment, because they may contain secrets. */
export const shownUrl = (url: URL): string => `${shownOrigin(url)}${url.pathname}`;

/** `URL.origin` would be `null` for the embedded sandbox. */
export const shownOrigin = ({ protocol, host }: URL): string =>
  host === '' ? protocol : `${protocol}//${host}`;

/** The request that the command-line arguments describe. */
export interface Target {
  readonly method: string;
  /** Starts with a slash. Includes the query as it was given. */
  readonly path: string;
  readonly surface: Surface;
  /** The matching operation in the table, if any. */
  readonly operation: Operation | undefined;
}

interface Bases {
  readonly base: string;
  readonly legacyBase: string;
}

const methodWord = /^[A-Za-z]{1,20}$/;
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];
const scheme = /^[a-z][a-z0-9+.-]*:/i;

/** First path segments that only the legacy service uses. */
const legacyParts = new Set(
  Object.values<Operation>(operations)
    .filter(({ surface }) => surface === 'legacy')
    .map(({ path }) => firstPart(path)),
);

/**
 * Parses `[METHOD] PATH`. The method defaults to GET, or to POST if there is anything to send.
 * @throws UsageError if the words are not a method and a path, or if the address has another origin.
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
 * Rejects a path that only looks like the path of an order. A server may tolerate capitals or a trailing slash, and
 * such a path would bypass the journal and the policy.
 * @throws UsageError naming the path.
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

/** Whether a word is an address rather than a path. */
export const isAddress = (word: string): boolean => scheme.test(word);

/**
 * The path of an address under one of the base URLs. The key is sent to no other address.
 * @throws UsageError for any other address.
 */
function pathOf(address: string, { base, legacyBase }: Bases): string {
  const url = parseUrl(address);
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

/** Any request to the service, as the command `api` accepts it. */
export interface RawRequest {
  readonly method: string;
  /** Absolute path under the base URL, with a query if needed. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly surface?: Surface | undefined;
  /** Whether to send the request without a key. No key is created either. */
  readonly isKeyless?: boolean;
}

/** Headers controlled by the connection. */
const ownHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|accept-encoding|proxy-.*)$/;
/**
 * Matches words in header names that make gateways override a request's method or path. Does not match the `url` in
 * `curl`.
 */
const steering = /path|(?<!c)ur[il]|prefix|method|rewrite|override/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Builds the wire form of any request. If method and path are known, the table determines the credential, the retry
 * policy and whether the request moves money. An unknown request is retried only if it is a read.
 * @throws UsageError for an invalid method, path or header.
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
    refusals: operation ? errorResponseCodes(operation) : [],
  };
}

/**
 * Normalizes a path by unescaping letters, digits and `-._~`. This way, no spelling of a known operation passes for an
 * unknown operation. Rejects `..` and `//`. Pure.
 * @throws UsageError.
 */
function plainPath(given: string): string {
  const [bare = ''] = given.split('?', 1);
  const plain = withPlainLetters(bare);
  if (!/\/\/|\/\.\.?(?:\/|$)/.test(plain)) return plain + given.slice(bare.length);
  throw new UsageError(`the path "${given}" has empty parts or steps ("..") in it; write it without`);
}

/**
 * Finds the operation that a request calls. If the request is a write, its path must be written exactly as in the
 * table. Pure.
 * @throws UsageError for a path with `..` or `//`.
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

/** Extracts the parameters of an operation from a path. Does not decode them. Pure. */
export const pathParametersOf = (operation: Operation, path: string): Readonly<Record<string, string>> => ({
  ...pathPattern(operation).exec(path)?.groups,
});

/** Credential for a path that is not in the table, by surface. */
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
