import { controlPath, healthPath, triggerPath } from '../../api/control.ts';
import type { Method } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import { type PageName, pageRows } from '../console/pages/routes.ts';
import { labelPath } from '../returns/labels.ts';

/** What a request leads to: an operation of the service, a page for people, a return's label, what makes events happen, what controls the sandbox, or whether it is ready. */
type Target =
  | { readonly kind: 'operation'; readonly name: OperationName }
  | { readonly kind: 'page'; readonly name: PageName }
  | { readonly kind: 'label' }
  | { readonly kind: 'trigger' }
  | { readonly kind: 'control' }
  | { readonly kind: 'health' };

interface Route {
  readonly method: Method;
  /** Parameters in braces, each from the beginning of its segment. */
  readonly path: string;
  readonly target: Target;
  /** Only for requests that prefer a page; the API has the same path. */
  readonly isForReaders?: boolean;
}

export type Match = Target & { readonly path: Readonly<Record<string, string>> };

// The table's own names, which `Object.keys` does not type.
const operationNames = Object.keys(operations) as OperationName[];

/** Every path of the sandbox. */
const table: readonly Route[] = [
  ...pageRows.flatMap((row): Route[] => {
    const { path } = row;
    const isForReaders = 'shared' in row;
    return [
      ...('GET' in row ? [pageRoute('GET', path, row.GET, isForReaders)] : []),
      ...('POST' in row ? [pageRoute('POST', path, row.POST, isForReaders)] : []),
    ];
  }),
  ...operationNames.map((name): Route => {
    const { method, path } = operations[name];
    return { method, path, target: { kind: 'operation', name } };
  }),
  { method: 'GET', path: labelPath, target: { kind: 'label' } },
  { method: 'POST', path: triggerPath, target: { kind: 'trigger' } },
  { method: 'GET', path: controlPath, target: { kind: 'control' } },
  { method: 'POST', path: `${controlPath}/{action}`, target: { kind: 'control' } },
  { method: 'GET', path: healthPath, target: { kind: 'health' } },
];

function pageRoute(method: Method, path: string, name: PageName, isForReaders: boolean): Route {
  return { method, path, target: { kind: 'page', name }, isForReaders };
}

/** A segment of a path: a text, or a parameter with what ends the segment after it. */
type Segment = string | { readonly parameter: string; readonly end: string };

const segmentOf = (text: string): Segment => {
  const [, parameter, end = ''] = /^\{(\w+)\}(.*)$/.exec(text) ?? [];
  return parameter === undefined ? text : { parameter, end };
};

interface ReadRoute extends Route {
  readonly segments: readonly Segment[];
}

/** A slash at the end changes nothing. */
const split = (path: string): string[] => path.replace(/\/$/, '').split('/');

const parameterCount = ({ segments }: ReadRoute): number =>
  segments.filter((segment) => typeof segment !== 'string').length;

/** Routes by their number of segments; a literal segment wins over a parameter, and a page over the API. */
const routes = new Map<number, ReadRoute[]>();
for (const route of table
  .map((row): ReadRoute => ({ ...row, segments: split(row.path).map(segmentOf) }))
  .sort((one, other) => parameterCount(one) - parameterCount(other))) {
  const { length } = route.segments;
  const known = routes.get(length);
  if (known) known.push(route);
  else routes.set(length, [route]);
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

/**
 * What a method and a path lead to; where only the method is wrong, the methods that the path has.
 * @param isReader whether the request prefers a page to JSON.
 */
export function findRoute(method: string, pathname: string, isReader = false): Found {
  if (pathname.length > longestKnown) return readRoute(method, pathname, isReader);
  const name = `${method} ${isReader} ${pathname}`;
  const known = foundBefore.get(name);
  if (known) return known;
  const found = readRoute(method, pathname, isReader);
  if (foundBefore.size >= mostKnown) foundBefore.clear();
  foundBefore.set(name, found);
  return found;
}

type Found = Match | { readonly allowed: readonly Method[] };

/** Several look for the route of one request, and many requests take the same. */
const foundBefore = new Map<string, Found>();
const [mostKnown, longestKnown] = [1_000, 200];

function readRoute(method: string, pathname: string, isReader: boolean): Found {
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

function match(template: readonly Segment[], segments: readonly string[]): Match['path'] | undefined {
  const path: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    // Escaped or not, it is the same path (RFC 3986, 6.2.2.2).
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
