import { realMs } from '../../platform/clock.ts';
import { setImmediate, setTimeout } from '../../platform/wait/own-timers.ts';
import type { Piece, Scheduler } from '../server/service.ts';

/** Short for who comes meanwhile. */
const amongRequests: Piece = { most: 20, longestMs: 4 };
/** Long enough that hardly any of the time is waited for the disk. */
const alone: Piece = { most: 100, longestMs: 16 };
/** How many records pay for a transaction, however long they take. */
const fewest = 10;

/** How long after a request another is expected, ms. */
const expectedMs = 100;

/** Whether a piece of work that began at `began` (`realMs`) may go on. @param done how much was done in it. */
export const mayGoOn = ({ longestMs }: Piece, began: number, done: number): boolean =>
  done < fewest || realMs() - began < longestMs;

/** How much longer what works in the background pauses than it worked, while a request works. */
const pauseFactor = 2;

/** Lets requests work first, and what comes about in the background in between: it never stands still. */
export class Pace implements Scheduler {
  #working = 0;
  #cameAt = Number.NEGATIVE_INFINITY;
  readonly #waiting: (() => void)[] = [];

  came(): void {
    this.#cameAt = realMs();
  }

  get piece(): Piece {
    return realMs() - this.#cameAt < expectedMs ? amongRequests : alone;
  }

  async ahead<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#working -= 1;
    }
  }

  pause(workedMs: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        if (this.#waiting.push(resolve) === 1) this.#goOnSoon();
      };
      if (this.#working > 0) setTimeout(goOn, workedMs * pauseFactor);
      else goOn();
    });
  }

  /** One piece a turn, whoever works: two at once would hold up requests for as long as both take. */
  #goOnSoon(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#goOnSoon();
    });
  }
}
