import { systemClock, type Timer } from '../clock.ts';

/** How a wait for a database goes. */
export interface Waiting {
  readonly clock?: Timer;
  /** Ends the wait soon after it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How long another process may hold a database before it is given up, ms. */
const patienceMs = 15_000;
/** What is left of that once the user wants to stop, ms: a lock is rarely held for longer than a commit takes. */
const graceMs = 300;
const longestPauseMs = 25;

/**
 * Does what SQLite refuses while another process holds the database, again and again until it succeeds. The event loop
 * turns between two attempts, so that signals are heard. The first attempt is made at once, whatever the signal says.
 * @throws what the signal was aborted with; SQLite's own error once the patience is over, or for anything else.
 */
export async function retryWhileBusy<T>(
  attempt: () => T,
  { clock = systemClock, signal }: Waiting,
): Promise<T> {
  let deadline = clock.monotonic() + patienceMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
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

/** Whether SQLite says that another process holds the database (SQLITE_BUSY, SQLITE_LOCKED). */
export const isBusy = (error: unknown): boolean => {
  if (!(error instanceof Error && 'errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === 5 || code === 6;
};
