/** Concurrency limit that adapts to response times. */
export class Window {
  readonly #limit: number;
  #size = 1;
  #bestMs = Number.POSITIVE_INFINITY;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Raises the limit by one while responses are about as fast as the fastest one, and lowers it by one if they slow
   * down.
   */
  responded(ms: number): void {
    this.#bestMs = Math.min(this.#bestMs, ms);
    const isSlow = ms > this.#bestMs * 3 + 200;
    this.#size = Math.min(this.#limit, Math.max(1, this.#size + (isSlow ? -1 : 1)));
  }
}

/**
 * Processes items concurrently and yields each result as soon as it is ready. Takes items from the source only when it
 * can start them. After a failure it starts nothing more, awaits the items in progress, then throws. @param now returns
 * the time of a clock, in ms. @param window may come from an earlier run, and then passes on the limit that this run
 * has learned.
 */
export async function* inFlight<T, R>(
  source: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  {
    now,
    ...limits
  }: { readonly now: () => number } & ({ readonly limit: number } | { readonly window: Window }),
): AsyncGenerator<R> {
  const window = 'window' in limits ? limits.window : new Window(limits.limit);
  const items = source[Symbol.asyncIterator]();
  const running = new Set<Promise<void>>();
  const results: R[] = [];
  let failure: { readonly error: unknown } | undefined;
  let hasMore = true;
  try {
    // The last items may end while the caller is still busy with an earlier result.
    while (hasMore || running.size > 0 || results.length > 0) {
      while (hasMore && !failure && running.size < window.size) {
        const { value, done } = await items.next();
        if (done) hasMore = false;
        else begin(value);
      }
      if (failure) hasMore = false;
      if (running.size > 0) await Promise.race(running);
      yield* results.splice(0);
    }
  } finally {
    await Promise.all(running);
    await items.return?.();
  }
  if (failure) throw failure.error;

  function begin(item: T): void {
    const startedAt = now();
    const run = work(item)
      .then(
        (result) => {
          window.responded(now() - startedAt);
          results.push(result);
        },
        (error: unknown) => {
          failure ??= { error };
        },
      )
      .finally(() => running.delete(run));
    running.add(run);
  }
}
