import type { Pace } from '../../http/transport/paced.ts';
import { TransportFailure } from '../../http/transport/transport.ts';
import type { RequestBudget } from '../../journal/postgres/queue.ts';
import { InTurn } from '../../platform/async.ts';
import type { Timer } from '../../platform/clock.ts';

/** The turns of this worker in the budget of all. */
export class SharedPace implements Pace {
  readonly #budget: RequestBudget;
  readonly #clock: Timer;
  /** Turns that are taken and not used. */
  readonly #ready: number[] = [];
  /** One of this process waits at a time, so that the database is not asked by all of them. */
  readonly #inTurn = new InTurn();
  #failure: Error | undefined;

  constructor(budget: RequestBudget, clock: Timer) {
    this.#budget = budget;
    this.#clock = clock;
  }

  /** Why there are no turns any more: the database is away. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Waits for a turn ahead of a request whose time is counted. @throws what the signal was aborted with; StorageError. */
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

  /** A budget that cannot be lowered is lowered by the next refusal. */
  async refused(turn: number, askedMs: number | undefined): Promise<void> {
    try {
      await this.#budget.cut(turn, askedMs);
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
      // Whoever stood in line behind a failure has waited as long.
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
      await this.#clock.sleep(Math.min(turn.waitMs, longestSleepMs), signal);
    }
  }
}

/** A pause may be lifted, or the budget raised, by whoever looks at the database; ms. */
const longestSleepMs = 5_000;
