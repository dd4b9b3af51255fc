import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations/index.ts';

interface Route {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly segments: readonly string[];
}

export interface Match {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly path: Readonly<Record<string, string>>;
}

const isParameter = (segment: string): boolean => segment.startsWith('{');

/** Routes by method and number of segments; literal segments win over parameters. */
const routes: ReadonlyMap<string, readonly Route[]> = grouped(
  Object.entries(operations)
    .map(
      ([name, operation]): Route => ({
        name: name as OperationName,
        operation,
        segments: operation.path.split('/'),
      }),
    )
    .sort((a, b) => a.segments.filter(isParameter).length - b.segments.filter(isParameter).length),
);

function grouped(all: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const entry of all) {
    const key = `${entry.operation.method} ${entry.segments.length}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return groups;
}

/** The operation for a method and a path; where only the method is wrong, the methods that the path has. */
export function route(method: string, pathname: string): Match | { readonly allowed: readonly string[] } {
  const segments = pathname.length > 1 ? pathname.replace(/\/$/, '').split('/') : ['', ''];
  for (const { name, operation, segments: template } of routes.get(`${method} ${segments.length}`) ?? []) {
    const path = match(template, segments);
    if (path) return { name, operation, path };
  }
  const allowed = ['GET', 'POST', 'PUT', 'DELETE'].filter((other) =>
    (routes.get(`${other} ${segments.length}`) ?? []).some((candidate) =>
      match(candidate.segments, segments),
    ),
  );
  return { allowed };
}

function match(template: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const path: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    // Escaped or not, it is the same path (RFC 3986, 6.2.2.2).
    const value = segment.includes('%') ? decoded(segment) : segment;
    if (value === undefined || value === '') {
      if (part === segment) continue;
      return undefined;
    }
    if (isParameter(part)) path[part.slice(1, -1)] = value;
    else if (part !== value) return undefined;
  }
  return path;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
