import type { Operation, Surface } from '../api/operation.ts';
import { findOperation, isRead, pathPattern } from '../api/operations/find.ts';
import { refusalCodes } from '../api/refusals.ts';
import { UsageError } from '../platform/errors.ts';
import { withPlainLetters } from '../platform/net/urls.ts';
import { baseOf, isSameOrigin, type Prepared, retryPolicyOf, type Service, underBase } from './request.ts';
import { parseJson } from './response.ts';

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
export function operationOf({
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
