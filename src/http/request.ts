import type { ErrorCode } from '../api/error-codes.ts';
import type { Auth, Operation, RetryPolicy, Surface } from '../api/operation.ts';
import { type ParameterValues, wireTexts, writeParameters } from '../api/operation.ts';
import { refusalCodes } from '../api/refusals.ts';
import { issueText } from '../api/validation.ts';
import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { hasCredentials, hasQuery, trimSlashes } from '../platform/net/urls.ts';

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
export function baseOf({ base, legacyBase }: Service, surface: Surface): URL {
  if (surface === 'current') return base;
  if (legacyBase) return legacyBase;
  throw new UsageError('the address of the legacy service is not known; set ERRAND_LEGACY_BASE_URL');
}

/** Without a key in it each order sent would be another one: the service makes a key of its own each time. */
export function retryPolicyOf({ retry }: Pick<Operation, 'retry'>, body: unknown): RetryPolicy {
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
export function underBase(base: URL, pathAndQuery: string): URL {
  return new URL(`${trimSlashes(base.href)}${pathAndQuery}`);
}

/** A URL as it may be shown: without credentials, query and fragment, which may hold secrets. */
export const shownUrl = (url: URL): string => `${shownOrigin(url)}${url.pathname}`;

/** `URL.origin` would be `null` for the embedded sandbox. */
export const shownOrigin = ({ protocol, host }: URL): string =>
  host === '' ? protocol : `${protocol}//${host}`;
