import { setImmediate, setTimeout } from '../../wait/own-timers.ts';

/** A piece of what works in the background: long enough to pay for its transaction, and short for who comes meanwhile. */
const [fewest, longestMs] = [10, 4];

/** Whether a piece of work that began at `began` (`performance.now()`) may go on. @param done how much was done in it. */
export const mayGoOn = (began: number, done: number): boolean =>
  done < fewest || performance.now() - began < longestMs;

/** How much longer what works in the background pauses than it worked, while a request works. */
const pauseFactor = 2;

/** Lets requests work first, and what comes about in the background in between: it never stands still. */
export class Pace {
  #working = 0;

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
      if (this.#working === 0) setImmediate(() => resolve());
      else setTimeout(resolve, workedMs * pauseFactor);
    });
  }
}
