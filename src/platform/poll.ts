import { type Deadline, stopwatch, type Timer } from './clock.ts';
import { ErrandError, exitCodes, type NextStep, stopOf } from './errors.ts';

/** Between two polls. */
export interface Pace {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** The next pause between polls, in ms: short after a change, growing by half while nothing happens. */
export function nextPause(pace: Pace, quietRounds: number): number {
  return Math.min(pace.longestMs, Math.round(pace.shortestMs * 1.5 ** Math.min(quietRounds, 40)));
}

/**
 * Calls `look` until it returns a value. @returns undefined where the deadline passes first.
 * @throws what `look` throws, and the signal's reason where it is aborted.
 */
export async function poll<T>(
  look: () => Promise<T | undefined>,
  { deadline, everyMs, signal }: { deadline: Deadline; everyMs: number; signal: AbortSignal },
): Promise<T | undefined> {
  do {
    const found = await look();
    if (found !== undefined) return found;
  } while (await deadline.pause(everyMs, signal));
  return undefined;
}

/** A blip, and its end. */
export type Interruption =
  | { readonly type: 'gap'; readonly message: string }
  | { readonly type: 'reconnected'; readonly gap_ms: number };

interface Watch<E> {
  /** One round: an event for each change, as it is found. */
  look(): AsyncIterable<E>;
  isOver(): boolean;
  /** Whether the service has responded before: then more may pass by itself. */
  hasResponded(): boolean;
  readonly pace: Pace;
  readonly deadline: Deadline;
  readonly clock: Timer;
  readonly signal: AbortSignal;
}

/**
 * Follows what changes, round after round, until it is over or the deadline has passed. A blip of the network is a `gap`,
 * not an end. @throws the signal's reason where it is aborted, and whatever polling cannot mend.
 */
export async function* watch<E>(of: Watch<E>): AsyncGenerator<E | Interruption> {
  const { pace, deadline, clock, signal } = of;
  let quietRounds = 0;
  let gapMs: (() => number) | undefined;
  while (!of.isOver()) {
    quietRounds += 1;
    try {
      for await (const event of of.look()) {
        quietRounds = 0;
        yield event;
      }
      if (gapMs) yield { type: 'reconnected', gap_ms: gapMs() };
      gapMs = undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isBlip(error, of.hasResponded())) throw error;
      if (!gapMs) yield { type: 'gap', message: error.message };
      gapMs ??= stopwatch(clock);
    }
    if (of.isOver() || !(await deadline.pause(nextPause(pace, quietRounds), signal))) return;
  }
}

/**
 * Follows as `watch` does, between a first event and a summary. An interruption is thrown once the summary is out, since
 * whoever reads the events is owed their end.
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
 * Whether what keeps a watch from its response may pass by itself. Of a service that has never responded only what is
 * worth another attempt: HTML stays HTML.
 */
export const isBlip = (error: unknown, hasResponded: boolean): error is ErrandError =>
  error instanceof ErrandError &&
  error.category === 'unavailable' &&
  (hasResponded || error.facts.retryable !== false);

interface Waiting {
  /** Where things stand. */
  readonly message: string;
  /** The command that goes on. */
  readonly next: NextStep;
}

/** Events of a watch; where it is interrupted, what ends it says where things stand, and how to follow them again. */
export async function* untilStopped<E>(
  events: AsyncIterable<E>,
  signal: AbortSignal,
  standing: () => Waiting,
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

/** Where something that is awaited stands: still on its way, at the awaited state, or at an end that is not it. */
export type Verdict = 'waiting' | 'reached' | 'failed';

/** How many stand where at the end of a watch. */
export interface WatchSummary {
  readonly reached: number;
  readonly failed: number;
  readonly waiting: number;
  readonly requests: number;
  readonly elapsed_ms: number;
}

/** Counts verdicts. Pure. */
export function tallyOf(verdicts: Iterable<Verdict>): Pick<WatchSummary, Verdict> {
  const tally = { reached: 0, failed: 0, waiting: 0 };
  for (const verdict of verdicts) tally[verdict] += 1;
  return tally;
}

export function exitCodeOf({ waiting, failed }: Pick<WatchSummary, 'waiting' | 'failed'>): number {
  if (waiting > 0) return exitCodes.deadline;
  return failed > 0 ? exitCodes.ended_badly : 0;
}

/** What a person is told of a blip, and of its end. */
export const interruptionText = (event: Interruption): string =>
  event.type === 'gap'
    ? `the service does not respond, still trying: ${event.message}`
    : `the service responds again after ${Math.round(event.gap_ms / 1000)} s`;

/** So long after the last look at a lock it is waited for anew, ms. */
const forgottenAfterMs = 60_000;

/**
 * What one run has waited for in vain: its waits for locks of other processes have one deadline together, however many
 * there are, until a lock that was held is free.
 */
export class Patience {
  readonly #held = new Map<string, { readonly since: number; readonly seen: number }>();

  /** A lock is held. @param now monotonic, ms. @returns since when the run has waited, for this lock or another that is held. */
  since(lock: string, now: number): number {
    for (const [name, { seen }] of this.#held) if (now - seen >= forgottenAfterMs) this.#held.delete(name);
    this.#held.set(lock, { since: this.#held.get(lock)?.since ?? now, seen: now });
    return Math.min(...Array.from(this.#held.values(), ({ since }) => since));
  }

  /** A lock was got. */
  free(lock: string): void {
    this.#held.delete(lock);
  }
}
