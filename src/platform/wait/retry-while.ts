import { systemClock, type Timer } from '../clock.ts';
import { backoffMs } from './backoff.ts';
import type { Patience } from './patience.ts';

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
