import type { Operation } from '../operation.ts';
import { operations } from './index.ts';

/** Whether a method only reads (RFC 9110, 9.2.1). */
export const isRead = (method: string): boolean => /^(?:GET|HEAD|OPTIONS)$/.test(method);

/**
 * Whether every server and gateway reads the path the same way, because it has only plain segments between single
 * slashes.
 */
export const isPlainPath = (path: string): boolean => /^(?:\/[\w~-]+)+$/.test(path);

/**
 * Finds the operation for an uppercase method and a path without query. The path of a write must match its row
 * literally, and its parameters must be plain segments, because a gateway may read any other spelling as a different
 * path. Fixed paths take precedence over parameters.
 */
export function findOperation(method: string, path: string): Operation | undefined {
  const all: readonly Operation[] = Object.values(operations);
  return all
    .filter((row) => row.method === method && pathPattern(row).test(path))
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
}

/** Pattern for an operation's path; named groups capture the parameters. */
export function pathPattern({ method, path }: Pick<Operation, 'method' | 'path'>): RegExp {
  const [part, end] = isRead(method) ? ['[^/]+', '/?'] : ['[\\w~-]+', ''];
  const fixed = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${fixed.replace(/\{(\w+)\}/g, `(?<$1>${part})`)}${end}$`);
}
