/** Does work one after the other; the failure of one stops none after it. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins the work once all that came before it is over. @throws what the work throws. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  /** Resolves when all that came before is over. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
