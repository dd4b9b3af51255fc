import { inspect } from 'node:util';
import { redactor } from './redactor.ts';

/** Maximum depth of causes. Deeper causes are not useful, and the chain of causes may be cyclic. */
const maxDepth = 8;

/**
 * Redacts the cause of an error. Of a foreign error, only name, message, stack, code and causes stay. Libraries attach
 * more to their errors, such as a whole request with headers, which may contain secrets.
 * @param isOwn tells which errors are already redacted.
 */
export function redactCause(cause: unknown, isOwn: (error: Error) => boolean, depth = 0): unknown {
  if (typeof cause === 'string') return redactor.text(cause);
  if (!(cause instanceof Error)) return Object(cause) === cause ? redactor.text(inspect(cause)) : cause;
  if (isOwn(cause)) return cause;
  const { name, message, stack, code } = cause as NodeJS.ErrnoException;
  const inner = (one: unknown): unknown =>
    depth < maxDepth ? redactCause(one, isOwn, depth + 1) : undefined;
  const shown = new Error(
    redactor.text(message),
    'cause' in cause ? { cause: inner(cause.cause) } : undefined,
  );
  const redacted = {
    name: redactor.text(String(name)),
    stack: redactor.text(String(stack ?? '')),
    ...(code !== undefined && { code: typeof code === 'number' ? code : redactor.text(String(code)) }),
    ...(cause instanceof AggregateError && { errors: cause.errors.map(inner) }),
  };
  for (const [property, value] of Object.entries(redacted))
    Object.defineProperty(shown, property, {
      value,
      configurable: true,
      writable: true,
      enumerable: property === 'code',
    });
  return shown;
}
