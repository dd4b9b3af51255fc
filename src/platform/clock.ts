import { hrtime } from 'node:process';

/** Time as a command sees it; tests put their own in its place. All in ms. */
export interface Clock {
  /** The time of day, since the epoch, for timestamps alone: somebody may set it, forward or back. */
  now(): number;
  /** Since some moment of the past, never set: for deadlines, and for how long a thing took. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What a wait needs of a clock. */
export type Timer = Pick<Clock, 'monotonic' | 'sleep'>;

/** Real time since some moment of the past, ms. Node's `performance` comes with ten modules, a millisecond of a start. */
export function realMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * The time of day, ms since the epoch, for a process that lives long: it never goes back. Where somebody sets it back it
 * goes on as it did; where it is set forward, or the machine has slept, it follows.
 */
export function steadyTime(): () => number {
  let startOfClock = Number.NEGATIVE_INFINITY;
  return () => {
    const elapsed = realMs();
    startOfClock = Math.max(startOfClock, Date.now() - elapsed);
    return Math.round(startOfClock + elapsed);
  };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: realMs,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', stop, { once: true });
      function done(): void {
        signal?.removeEventListener('abort', stop);
        resolve();
      }
      function stop(): void {
        clearTimeout(timer);
        reject(signal?.reason);
      }
    }),
};
