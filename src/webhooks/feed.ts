/** Hands records from several producers to one consumer, one at a time: a producer waits until its record is taken. */
export class Feed<T> {
  readonly #waiting: { readonly record: T; readonly taken: () => void }[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  /** Resolves when the record is taken, or dropped since the feed has ended. */
  put(record: T): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((taken) => {
      this.#waiting.push({ record, taken });
      this.#wake?.();
    });
  }

  /** No more records; those that wait are still taken. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *records(): AsyncGenerator<T> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next) {
          next.taken();
          yield next.record;
        } else if (this.#ended) return;
        else await this.#arrival();
      }
    } finally {
      this.#ended = true;
      for (const { taken } of this.#waiting.splice(0)) taken();
    }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
