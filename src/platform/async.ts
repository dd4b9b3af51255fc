import { systemClock, type Timer } from './clock.ts';
import type { RetryBudget } from './poll.ts';

/** Runs `work` on the first call. Later calls share the result of the first call. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}

/** Runs tasks in sequence. A failed task does not affect later tasks. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Starts the work after all earlier work has ended.
   * @throws the work's error.
   */
  run<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  /** Resolves when all earlier work is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/**
 * Calls all closers one after another, even if some of them fail.
 * @throws the first error.
 */
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

/** Options for waiting for something that another process holds. */
export interface Waiting {
  readonly clock?: Timer;
  /** If this signal aborts, the wait ends soon afterwards. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum wait, in ms. */
  readonly maxMs?: number;
  /** One deadline for all waits for locks in this run. */
  readonly retryBudget?: RetryBudget;
  /** Name of the lock. */
  readonly lock?: string;
}

/** Default maximum wait, in ms. */
const defaultMaxWaitMs = 15_000;
/**
 * How long, in ms, to keep waiting after an abort, or after the run has used up its time for waiting. It is short,
 * because a lock is rarely held longer than a commit takes.
 */
const graceMs = 200;
/** Jitter keeps waiting processes from retrying in step. */
const backoff = { firstMs: 1, maxMs: 25, jitter: 0.5 };

/**
 * Retries an attempt while another process holds a lock. Yields to the event loop between attempts, so that signals are
 * handled. The first attempt is always made, even after an abort.
 * @throws the signal's abort reason; the attempt's error after `maxMs` (15 seconds by default), a limit that all waits
 * with the same `retryBudget` share; or any other error.
 */
export async function retryWhile<T>(
  isLocked: (error: unknown) => boolean,
  attempt: () => T | Promise<T>,
  { clock = systemClock, signal, maxMs = defaultMaxWaitMs, retryBudget, lock = '' }: Waiting,
): Promise<T> {
  let deadline = clock.monotonic() + maxMs;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const result = await attempt();
      retryBudget?.free(lock);
      return result;
    } catch (error) {
      if (!isLocked(error)) throw error;
      const now = clock.monotonic();
      if (retryBudget) {
        const since = retryBudget.since(lock, now);
        if (attempts === 1) deadline = Math.max(since + maxMs, now + Math.min(maxMs, graceMs));
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
  /** Delay before the second attempt, in ms. It doubles with each further attempt. */
  readonly firstMs: number;
  readonly maxMs: number;
  /**
   * Random share of a delay, from 0 to 1. The default is 1, so that clients that failed at the same time do not retry
   * at the same time.
   */
  readonly jitter?: number;
  /** Minimum delay, in ms, that the other side has requested (`Retry-After`). */
  readonly minMs?: number | undefined;
}

/** For requests over the network. */
export const requestBackoff = { firstMs: 250, maxMs: 8_000 } as const satisfies BackoffOptions;

/**
 * Delay after attempt number `attempt` (from 1), in ms: exponential backoff with jitter. Pure except for `random`,
 * which returns a number from 0 to 1.
 */
export function backoffMs(
  attempt: number,
  random: () => number,
  { firstMs, maxMs, jitter = 1, minMs = 0 }: BackoffOptions,
): number {
  const maxDelayMs = Math.min(maxMs, firstMs * 2 ** (attempt - 1));
  return Math.round(Math.max(minMs, maxDelayMs * (1 - jitter * (1 - random()))));
}
