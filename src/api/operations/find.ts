import type { Operation } from '../operation.ts';
import { operations } from './index.ts';

/** Whether a method only reads (RFC 9110, 9.2.1). */
export const isRead = (method: string): boolean => /^(?:GET|HEAD|OPTIONS)$/.test(method);

/**
 * Whether the path has only plain segments between single slashes, so that every server and gateway reads it in the
 * same way.
 */
export const isPlainPath = (path: string): boolean => /^(?:\/[\w~-]+)+$/.test(path);

/**
 * Finds the operation for an uppercase method and a path without query. A path without parameters takes precedence over
 * one with parameters. The path of a write must be spelled exactly as in the operation table, with plain segments as
 * parameters, because a gateway may read any other spelling as a different path.
 */
export function findOperation(method: string, path: string): Operation | undefined {
  const all: readonly Operation[] = Object.values(operations);
  return all
    .filter((row) => row.method === method && pathPattern(row).test(path))
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
}

/** Pattern for the path of an operation. Named groups capture the parameters. */
export function pathPattern({ method, path }: Pick<Operation, 'method' | 'path'>): RegExp {
  const [part, end] = isRead(method) ? ['[^/]+', '/?'] : ['[\\w~-]+', ''];
  const fixed = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${fixed.replace(/\{(\w+)\}/g, `(?<$1>${part})`)}${end}$`);
}
