import { systemClock, type Timer } from './clock.ts';

/** How a wait goes for what another process holds. */
export interface Waiting {
  readonly clock?: Timer;
  /** Ends the wait soon after it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How long another process may hold what is waited for, ms. */
const patienceMs = 15_000;
/** What is left of that once the user wants to stop, ms: a lock is rarely held for longer than a commit takes. */
const graceMs = 200;
const longestPauseMs = 25;

/**
 * Attempts what fails while another process holds a lock, again and again until it succeeds. The event loop turns
 * between two attempts, so that signals are heard. The first attempt is made at once, whatever the signal says.
 * @throws what the signal was aborted with; the attempt's own error once the patience is over, or for anything else.
 */
export async function retryWhile<T>(
  isLocked: (error: unknown) => boolean,
  attempt: () => T | Promise<T>,
  { clock = systemClock, signal }: Waiting,
): Promise<T> {
  let deadline = clock.monotonic() + patienceMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error)) throw error;
      const now = clock.monotonic();
      if (signal?.aborted) deadline = Math.min(deadline, now + graceMs);
      if (now >= deadline) {
        signal?.throwIfAborted();
        throw error;
      }
    }
    // Processes that wait together do not try together.
    await clock.sleep(pauseMs * (0.5 + Math.random() / 2));
  }
}
