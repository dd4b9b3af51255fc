export interface BackoffOptions {
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
