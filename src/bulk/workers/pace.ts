import type { RateLimiter } from '../../http/transport/paced.ts';
import { TransportFailure } from '../../http/transport/transport.ts';
import type { RequestBudget } from '../../journal/postgres/queue.ts';
import { InTurn } from '../../platform/async.ts';
import type { Timer } from '../../platform/clock.ts';

/** Takes turns for this worker from the request budget that all workers share. */
export class SharedPace implements RateLimiter {
  readonly #budget: RequestBudget;
  readonly #clock: Timer;
  /** Turns that were taken but are not used yet. */
  readonly #ready: number[] = [];
  /** Lets only one caller of this process wait for a turn at a time, to spare the database. */
  readonly #inTurn = new InTurn();
  #failure: Error | undefined;

  constructor(budget: RequestBudget, clock: Timer) {
    this.#budget = budget;
    this.#clock = clock;
  }

  /** The error if the database is unavailable. After that, no more turns can be taken. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Waits for a turn, before a request starts its timeout. @throws the signal's abort reason; StorageError. */
  async ready(signal: AbortSignal): Promise<void> {
    try {
      this.#ready.push(await this.#next(signal));
    } catch (error) {
      this.#failed(error, signal);
      throw error;
    }
  }

  async turn(signal: AbortSignal): Promise<number> {
    const ready = this.#ready.shift();
    if (ready !== undefined) return ready;
    try {
      return await this.#next(signal);
    } catch (cause) {
      this.#failed(cause, signal);
      const why = signal.aborted
        ? 'its turn did not come in time'
        : 'the shared budget of requests cannot be read';
      throw new TransportFailure('not_sent', why, { cause, isPermanent: true });
    }
  }

  /**
   * Lowers the budget. If that fails, only records the error, because the service's next refusal lowers the budget,
   * too.
   */
  async refused(turn: number, requestedMs: number | undefined): Promise<void> {
    try {
      await this.#budget.cut(turn, requestedMs);
    } catch (error) {
      if (error instanceof Error) this.#failure = error;
    }
  }

  end(): void {
    this.#budget.close();
  }

  #next(signal: AbortSignal): Promise<number> {
    const known = this.#failure;
    return this.#inTurn.run(async () => {
      // If the previous caller failed while this one was queued, fail at once: this caller has already waited just as
      // long.
      if (this.#failure && this.#failure !== known) throw this.#failure;
      return this.#wait(signal);
    });
  }

  #failed(error: unknown, { aborted }: AbortSignal): void {
    if (!aborted && error instanceof Error) this.#failure = error;
  }

  async #wait(signal: AbortSignal): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const turn = await this.#budget.take();
      if (turn.waitMs === undefined) return turn.at;
      await this.#clock.sleep(Math.min(turn.waitMs, maxSleepMs), signal);
    }
  }
}

/** Maximum sleep between checks, in ms. During the sleep, any process may lift a pause or raise the budget. */
const maxSleepMs = 5_000;
