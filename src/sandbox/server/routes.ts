import type { JsonObject } from '../../api/json.ts';
import type { Method } from '../../api/operation.ts';
import type { OperationName } from '../../api/operations/index.ts';

/** Describes in words what a request has done, such as `placed 1a2b3c4d`. */
export type ActionSummary = (path: Parts, body: JsonObject) => string;
type Parts = Readonly<Record<string, string>>;

/** A console page, identified by its name. */
interface PageTarget<P extends string> {
  readonly kind: 'page';
  readonly name: P;
  /** Describes what a form sent to this page has done. */
  readonly did?: ((path: Parts, location: string) => string) | undefined;
  /** The path parameter that holds the id of the order shown on the page. */
  readonly order?: string | undefined;
}

/**
 * The target of a request: an operation of the service, a page, a return's label, the trigger for events, the control
 * API, or the readiness check.
 */
type Target<P extends string> =
  | { readonly kind: 'operation'; readonly name: OperationName }
  | PageTarget<P>
  | { readonly kind: 'label' }
  | { readonly kind: 'trigger' }
  | { readonly kind: 'control' }
  | { readonly kind: 'health' };

/** @param P names of pages. */
export interface Route<P extends string = string> {
  readonly method: Method;
  /** Parameters are in braces and start at the beginning of a segment. */
  readonly path: string;
  readonly target: Target<P>;
  /** Whether the route serves only requests that prefer HTML. True if the API uses the same path. */
  readonly isForReaders?: boolean;
}

export type Match<P extends string = string> = Target<P> & { readonly path: Parts };

/** A segment of a path: either a literal text, or a parameter followed by a literal suffix. */
type Segment = string | { readonly parameter: string; readonly end: string };

const segmentOf = (text: string): Segment => {
  const [, parameter, end = ''] = /^\{(\w+)\}(.*)$/.exec(text) ?? [];
  return parameter === undefined ? text : { parameter, end };
};

interface ReadRoute<P extends string> extends Route<P> {
  readonly segments: readonly Segment[];
}

/** Ignores a trailing slash. */
const split = (path: string): string[] => path.replace(/\/$/, '').split('/');

const parameterCount = ({ segments }: { readonly segments: readonly Segment[] }): number =>
  segments.filter((segment) => typeof segment !== 'string').length;

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

/** The target of a request. If the path exists but does not allow the method, contains the allowed methods instead. */
export type Found<P extends string = string> = Match<P> | { readonly allowed: readonly Method[] };

/** Finds the target of a method and a path. @param isReader whether the request prefers a page to JSON. */
export type FindRoute<P extends string = string> = (
  method: string,
  pathname: string,
  isReader?: boolean,
) => Found<P>;

const [maxKnown, maxKnownLength] = [1_000, 200];

/** Finds the route of a request among the routes that the features have registered. */
export function routeFinder<P extends string>(table: readonly Route<P>[]): FindRoute<P> {
  const routes = bySegments(table);
  /** Caches lookups, because each request is routed several times and many requests share a path. */
  const foundBefore = new Map<string, Found<P>>();
  return (method, pathname, isReader = false) => {
    if (pathname.length > maxKnownLength) return readRoute(routes, method, pathname, isReader);
    const name = `${method} ${isReader} ${pathname}`;
    const known = foundBefore.get(name);
    if (known) return known;
    const found = readRoute(routes, method, pathname, isReader);
    if (foundBefore.size >= maxKnown) foundBefore.clear();
    foundBefore.set(name, found);
    return found;
  };
}

type Routes<P extends string> = ReadonlyMap<number, readonly ReadRoute<P>[]>;

/**
 * Groups routes by their number of segments. Literal segments take precedence over parameters, and pages over the API.
 */
function bySegments<P extends string>(table: readonly Route<P>[]): Routes<P> {
  const routes = new Map<number, ReadRoute<P>[]>();
  for (const route of table
    .map((row): ReadRoute<P> => ({ ...row, segments: split(row.path).map(segmentOf) }))
    .sort((one, other) => parameterCount(one) - parameterCount(other))) {
    const { length } = route.segments;
    const known = routes.get(length);
    if (known) known.push(route);
    else routes.set(length, [route]);
  }
  return routes;
}

function readRoute<P extends string>(
  routes: Routes<P>,
  method: string,
  pathname: string,
  isReader: boolean,
): Found<P> {
  const segments = split(pathname);
  const candidates = routes.get(segments.length) ?? [];
  for (const route of candidates) {
    if (route.method !== method || (route.isForReaders && !isReader)) continue;
    const path = match(route.segments, segments);
    if (path) return { ...route.target, path };
  }
  const found = new Set(
    candidates.filter((route) => match(route.segments, segments)).map((route) => route.method),
  );
  return { allowed: methods.filter((name) => found.has(name)) };
}

function match(template: readonly Segment[], segments: readonly string[]): Parts | undefined {
  const path: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    // Decode the segment, because percent-encoding does not change the meaning of a path (RFC 3986, 6.2.2.2).
    const value = segment.includes('%') ? decoded(segment) : segment;
    if (value === part) continue;
    if (value === undefined || typeof part === 'string') return undefined;
    const { parameter, end } = part;
    if (!value.endsWith(end) || value.length === end.length) return undefined;
    path[parameter] = value.slice(0, value.length - end.length);
  }
  return path;
}

export function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
