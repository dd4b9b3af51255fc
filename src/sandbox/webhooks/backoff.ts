const firstMs = 1_000;
/** A receiver that has come back is not left waiting for longer than this. */
const longestMs = 600_000;
const dayMs = 24 * 3600 * 1000;

/**
 * How long to wait after a failed attempt, ms of the sandbox's time: 1 s, then twice as long each time up to 10 min, for
 * a day in all; null once that is over. `speed` divides it, as it does an order's life.
 * @param attempts how many have failed, at least 1.
 */
export function retryDelay(attempts: number, speed: number): number | null {
  let wait = 0;
  let inAll = 0;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    wait = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
    inAll += wait;
  }
  return inAll > dayMs ? null : Math.ceil(wait / speed);
}
