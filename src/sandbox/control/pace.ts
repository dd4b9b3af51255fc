import { realMs } from '../../platform/clock.ts';
import { setImmediate, setTimeout } from '../../platform/own-timers.ts';

/** How much is done in the background at a time, in one transaction and with one wait for the disk. */
export interface Piece {
  /** Records. */
  readonly most: number;
  readonly longestMs: number;
}

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
export class Pace {
  #working = 0;
  #cameAt = Number.NEGATIVE_INFINITY;
  readonly #waiting: (() => void)[] = [];

  /** A request has come. */
  came(): void {
    this.#cameAt = realMs();
  }

  /** How much the next piece of work in the background may be. */
  get piece(): Piece {
    return realMs() - this.#cameAt < expectedMs ? amongRequests : alone;
  }

  /** Runs what a request does for itself alone. */
  async ahead<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#working -= 1;
    }
  }

  /** A pause between two pieces of work in the background. @param workedMs how long the piece before took. */
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
