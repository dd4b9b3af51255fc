import { ErrandError, type NextStep, stopOf } from '../errors.ts';

interface Standing {
  /** Where things stand. */
  readonly message: string;
  /** The command that goes on. */
  readonly next: NextStep;
}

/** Events of a watch; where it is interrupted, what ends it says where things stand, and how to follow them again. */
export async function* untilStopped<E>(
  events: AsyncIterable<E>,
  signal: AbortSignal,
  standing: () => Standing,
): AsyncGenerator<E> {
  try {
    yield* events;
  } catch (error) {
    const { message, next } = standing();
    throw stoppedWith(error, signal, message, next);
  }
}

/**
 * What ended a watch: where it was interrupted, a failure that says where things stand and which command goes on; anything
 * else as it is.
 */
export function stoppedWith(error: unknown, signal: AbortSignal, message: string, next: NextStep): unknown {
  if (!signal.aborted || !(error instanceof ErrandError) || !stopOf(error)) return error;
  return new ErrandError(error.category, message, { ...error.facts, next: [next], cause: error });
}
