import { ErrandError, type NextStep } from '../errors.ts';

/**
 * What ended a watch: where it was interrupted, a failure that says where things stand and which command goes on; anything
 * else as it is.
 */
export function stoppedWith(error: unknown, signal: AbortSignal, message: string, next: NextStep): unknown {
  if (!signal.aborted || !(error instanceof ErrandError)) return error;
  if (error.category !== 'interrupted' && error.category !== 'terminated') return error;
  return new ErrandError(error.category, message, { ...error.facts, next: [next], cause: error });
}
