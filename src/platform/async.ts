import { systemClock, type Timer } from './clock.ts';
import type { Patience } from './poll.ts';

/** Runs `work` when it is first called for; every later call waits for that one run and shares its outcome. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}

/** Does work one after the other; the failure of one stops none after it. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins the work once all that came before it is over. @throws what the work throws. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  /** Resolves when all that came before is over. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** Closes all, one after the other, though one of them fails. @throws what the first that failed threw. */
export async function closeAll(closers: readonly (() => void | Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** How a wait goes for what another process holds. */
export interface Waiting {
  readonly clock?: Timer;
  /** Ends the wait soon after it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** How long it is waited for at most, ms. */
  readonly longestMs?: number;
  /** Of the run, which its waits for locks share. */
  readonly patience?: Patience;
  /** The lock that is waited for, by its name. */
  readonly lock?: string;
}

/** How long another process may hold what is waited for, ms, where nothing else is said. */
const longestWaitMs = 15_000;
/** What is left of that once the user wants to stop, or the run has waited long enough, ms: a lock is rarely held for longer than a commit takes. */
const graceMs = 200;
/** Processes that wait together do not try together. */
const backoff = { firstMs: 1, longestMs: 25, jitter: 0.5 };

/**
 * Attempts what fails while another process holds a lock, again and again until it succeeds. The event loop turns
 * between two attempts, so that signals are heard. The first attempt is made at once, whatever the signal says.
 * @throws what the signal was aborted with; the attempt's own error after `longestMs`, 15 seconds, of all waits with one
 * patience together; or for anything else.
 */
export async function retryWhile<T>(
  isLocked: (error: unknown) => boolean,
  attempt: () => T | Promise<T>,
  { clock = systemClock, signal, longestMs = longestWaitMs, patience, lock = '' }: Waiting,
): Promise<T> {
  let deadline = clock.monotonic() + longestMs;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt();
      patience?.free(lock);
      return result;
    } catch (error) {
      if (!isLocked(error)) throw error;
      const now = clock.monotonic();
      if (patience) {
        const since = patience.since(lock, now);
        if (attempts === 1) deadline = Math.max(since + longestMs, now + Math.min(longestMs, graceMs));
      }
      if (signal?.aborted) deadline = Math.min(deadline, now + graceMs);
      if (now >= deadline) {
        signal?.throwIfAborted();
        throw error;
      }
    }
    await clock.sleep(backoffMs(attempts, Math.random, backoff));
  }
}

interface BackoffOptions {
  /** Before the second attempt, ms; doubled for each one after. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The share of a wait that is left to chance, 0 to 1: all of it by default, so that many who fail together spread out. */
  readonly jitter?: number;
  /** What the other side requested, as by `Retry-After`, ms: never shorter than that. */
  readonly leastMs?: number | undefined;
}

/** For requests that leave this machine. */
export const requestBackoff = { firstMs: 250, longestMs: 8_000 } as const satisfies BackoffOptions;

/**
 * How long to wait after attempt number `attempt` (from 1), in ms: exponential backoff with jitter.
 * Pure but for `random`, which gives a number from 0 to 1.
 */
export function backoffMs(
  attempt: number,
  random: () => number,
  { firstMs, longestMs, jitter = 1, leastMs = 0 }: BackoffOptions,
): number {
  const longest = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
  return Math.round(Math.max(leastMs, longest * (1 - jitter * (1 - random()))));
}
