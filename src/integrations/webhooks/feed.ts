/** Hands records from several producers to one consumer, one at a time: a producer waits until the consumer is done with its record. */
export class Feed<T> {
  readonly #waiting: { readonly record: T; readonly done: () => void }[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  /** Resolves when the consumer asks for the next record, or when this one is dropped since the feed has ended. */
  put(record: T): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((done) => {
      this.#waiting.push({ record, done });
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
          try {
            yield next.record;
          } finally {
            next.done();
          }
        } else if (this.#ended) return;
        else await this.#arrival();
      }
    } finally {
      this.#ended = true;
      for (const { done } of this.#waiting.splice(0)) done();
    }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
