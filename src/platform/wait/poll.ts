import type { Timer } from '../clock.ts';
import { isBlip } from './blip.ts';
import { type Deadline, stopwatch } from './deadline.ts';

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

export interface Watch<E> {
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
