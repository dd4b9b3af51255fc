import { inspect } from 'node:util';
import { redactor } from './redactor.ts';

/** Deeper ones tell nobody anything, and a cause may be its own. */
const mostCauses = 8;

/**
 * What lies behind an error, as it can be shown: of errors of somebody else's only name, message, stack, code and causes
 * stay. What a library hangs on them besides, such as the whole request with its headers, may hold secrets anywhere.
 * @param isOwn errors whose secrets have been replaced already stay as they are.
 */
export function redactCause(cause: unknown, isOwn: (error: Error) => boolean, depth = 0): unknown {
  if (typeof cause === 'string') return redactor.text(cause);
  if (!(cause instanceof Error)) return Object(cause) === cause ? redactor.text(inspect(cause)) : cause;
  if (isOwn(cause)) return cause;
  const { name, message, stack, code } = cause as NodeJS.ErrnoException;
  const inner = (one: unknown): unknown =>
    depth < mostCauses ? redactCause(one, isOwn, depth + 1) : undefined;
  const shown = new Error(
    redactor.text(message),
    'cause' in cause ? { cause: inner(cause.cause) } : undefined,
  );
  const told = {
    name: redactor.text(String(name)),
    stack: redactor.text(String(stack ?? '')),
    ...(code !== undefined && { code: typeof code === 'number' ? code : redactor.text(String(code)) }),
    ...(cause instanceof AggregateError && { errors: cause.errors.map(inner) }),
  };
  for (const [property, value] of Object.entries(told))
    Object.defineProperty(shown, property, {
      value,
      configurable: true,
      writable: true,
      enumerable: property === 'code',
    });
  return shown;
}
