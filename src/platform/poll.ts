import { type Deadline, stopwatch, type Timer } from './clock.ts';
import { ErrandError, exitCodes, type NextStep, stopOf } from './errors.ts';

/** Delay between polls, in ms. */
export interface Pace {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Delay before the next poll, in ms. The delay is short after a change, and grows by half after each round without a
 * change.
 */
export function nextPause(pace: Pace, quietRounds: number): number {
  return Math.min(pace.maxMs, Math.round(pace.minMs * 1.5 ** Math.min(quietRounds, 40)));
}

/**
 * Calls `check` until it returns a value.
 * @returns that value, or undefined if the deadline passes first.
 * @throws errors of `check`, and the signal's reason if aborted.
 */
export async function poll<T>(
  check: () => Promise<T | undefined>,
  { deadline, everyMs, signal }: { deadline: Deadline; everyMs: number; signal: AbortSignal },
): Promise<T | undefined> {
  do {
    const found = await check();
    if (found !== undefined) return found;
  } while (await deadline.pause(everyMs, signal));
  return undefined;
}

/** Start and end of a network outage. */
export type Interruption =
  | { readonly type: 'gap'; readonly message: string }
  | { readonly type: 'reconnected'; readonly gap_ms: number };

interface Watch<E> {
  /** Runs one round of polling. Yields an event for each change. */
  check(): AsyncIterable<E>;
  isOver(): boolean;
  /** Whether the service has responded at least once. From then on, more errors count as transient. */
  hasResponded(): boolean;
  readonly pace: Pace;
  readonly deadline: Deadline;
  readonly clock: Timer;
  readonly signal: AbortSignal;
}

/**
 * Polls for changes until the watch is over or the deadline has passed. A network outage yields a `gap` and does not
 * end the watch.
 * @throws the signal's reason if aborted, and any error that polling again cannot fix.
 */
export async function* watch<E>(of: Watch<E>): AsyncGenerator<E | Interruption> {
  const { pace, deadline, clock, signal } = of;
  let quietRounds = 0;
  let outageMs: (() => number) | undefined;
  while (!of.isOver()) {
    quietRounds += 1;
    try {
      for await (const event of of.check()) {
        quietRounds = 0;
        yield event;
      }
      if (outageMs) yield { type: 'reconnected', gap_ms: outageMs() };
      outageMs = undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error, of.hasResponded())) throw error;
      if (!outageMs) yield { type: 'gap', message: error.message };
      outageMs ??= stopwatch(clock);
    }
    if (of.isOver() || !(await deadline.pause(nextPause(pace, quietRounds), signal))) return;
  }
}

/**
 * Same as `watch`, but begins with an event and ends with a summary. An interruption is thrown only after the summary,
 * so that readers always get the summary.
 */
export async function* watchWithSummary<E>(
  first: E,
  of: Watch<E>,
  summary: () => E,
): AsyncGenerator<E | Interruption> {
  yield first;
  try {
    yield* watch(of);
  } catch (error) {
    if (of.signal.aborted) yield summary();
    throw error;
  }
  yield summary();
}

/**
 * Whether an error of a watch may be transient. Until the service has responded for the first time, only retryable
 * errors are. For example, a server that responds with HTML will keep doing so.
 */
export const isTransient = (error: unknown, hasResponded: boolean): error is ErrandError =>
  error instanceof ErrandError &&
  error.category === 'unavailable' &&
  (hasResponded || error.facts.retryable !== false);

interface Waiting {
  /** Current progress. */
  readonly message: string;
  /** The command to continue with. */
  readonly next: NextStep;
}

/**
 * Passes on the events of a watch. If the watch is interrupted, throws an error that contains the progress and says how
 * to continue.
 */
export async function* untilStopped<E>(
  events: AsyncIterable<E>,
  signal: AbortSignal,
  progress: () => Waiting,
): AsyncGenerator<E> {
  try {
    yield* events;
  } catch (error) {
    const { message, next } = progress();
    throw stoppedWith(error, signal, message, next);
  }
}

/**
 * The error with which to end a watch. For an interruption, it contains the progress and the command with which to
 * continue. Otherwise it is the original error.
 */
export function stoppedWith(error: unknown, signal: AbortSignal, message: string, next: NextStep): unknown {
  if (!signal.aborted || !(error instanceof ErrandError) || !stopOf(error)) return error;
  return new ErrandError(error.category, message, { ...error.facts, next: [next], cause: error });
}

/** State of something that is watched: in progress, at the target, or ended in another way. */
export type Verdict = 'waiting' | 'reached' | 'failed';

/** Counts at the end of a watch. */
export interface WatchSummary {
  readonly reached: number;
  readonly failed: number;
  readonly waiting: number;
  readonly requests: number;
  readonly elapsed_ms: number;
}

export function tallyOf(verdicts: Iterable<Verdict>): Pick<WatchSummary, Verdict> {
  const tally = { reached: 0, failed: 0, waiting: 0 };
  for (const verdict of verdicts) tally[verdict] += 1;
  return tally;
}

export function exitCodeOf({ waiting, failed }: Pick<WatchSummary, 'waiting' | 'failed'>): number {
  if (waiting > 0) return exitCodes.deadline;
  return failed > 0 ? exitCodes.ended_badly : 0;
}

/** Message about the start or the end of a network outage. */
export const interruptionText = (event: Interruption): string =>
  event.type === 'gap'
    ? `the service does not respond, still trying: ${event.message}`
    : `the service responds again after ${Math.round(event.gap_ms / 1000)} s`;

/** Time in ms without a new attempt at a lock, after which the wait for that lock starts over. */
const forgottenAfterMs = 60_000;

/**
 * One deadline for all waits of a run for locks that other processes hold. The deadline counts from the start of the
 * earliest wait that has not ended yet.
 */
export class RetryBudget {
  readonly #held = new Map<string, { readonly since: number; readonly lastSeen: number }>();

  /**
   * Records that another process holds a lock.
   * @param now is monotonic, in ms.
   * @returns the start of the earliest wait that has not ended yet.
   */
  since(lock: string, now: number): number {
    for (const [name, { lastSeen }] of this.#held)
      if (now - lastSeen >= forgottenAfterMs) this.#held.delete(name);
    this.#held.set(lock, { since: this.#held.get(lock)?.since ?? now, lastSeen: now });
    return Math.min(...Array.from(this.#held.values(), ({ since }) => since));
  }

  /** Records that this process has acquired a lock. */
  free(lock: string): void {
    this.#held.delete(lock);
  }
}
