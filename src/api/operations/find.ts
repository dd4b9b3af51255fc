import type { Operation } from '../operation.ts';
import { operations } from './index.ts';

/** Whether a method only reads (RFC 9110, 9.2.1). */
export const isRead = (method: string): boolean => /^(?:GET|HEAD|OPTIONS)$/.test(method);

/** Whether every server and every gateway reads a path alike: plain parts between single slashes. */
export const isPlainPath = (path: string): boolean => /^(?:\/[\w~-]+)+$/.test(path);

/**
 * The operation that a method in capitals and a path without a query call. A write fits its row literally, with plain
 * parts for parameters: a gateway may read any other spelling as another path. A fixed path goes before one with parameters.
 */
export function findOperation(method: string, path: string): Operation | undefined {
  const all: readonly Operation[] = Object.values(operations);
  return all
    .filter((row) => row.method === method && pathPattern(row).test(path))
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
}

/** What a path of an operation looks like; its groups are the parameters. */
export function pathPattern({ method, path }: Pick<Operation, 'method' | 'path'>): RegExp {
  const [part, end] = isRead(method) ? ['[^/]+', '/?'] : ['[\\w~-]+', ''];
  const fixed = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${fixed.replace(/\{(\w+)\}/g, `(?<$1>${part})`)}${end}$`);
}
