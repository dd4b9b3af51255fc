const late = Symbol('late');

export interface BatchOptions {
  /** Rows of the first batch. */
  readonly size: number;
  /** How long the first batch waits for more rows once it has one, in ms. */
  readonly waitMs: number;
}

/**
 * The rows in batches: first as many as `size`, or those that came within `waitMs` of the first one; then one by one.
 * So whoever needs to see some rows before the first is shown (a table its widths) holds up nobody for long.
 */
export async function* headFirst<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  { size, waitMs }: BatchOptions,
): AsyncGenerator<readonly T[]> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const patience = new Patience(waitMs);
  let ended = false;
  let coming: Promise<IteratorResult<T>> | undefined;
  const next = async (): Promise<IteratorResult<T>> => {
    try {
      const step = await iterator.next();
      ended = step.done === true;
      return step;
    } catch (error) {
      ended = true;
      throw error;
    }
  };
  try {
    const head: T[] = [];
    while (head.length < size && !ended) {
      coming ??= next();
      const step = head.length === 0 ? await coming : await Promise.race([coming, patience.over()]);
      if (step === late) break;
      coming = undefined;
      if (!step.done) head.push(step.value);
    }
    // The row that came too late for the first batch may yet fail, while nobody waits for it.
    coming?.catch(() => {});
    if (head.length > 0) yield head;
    while (coming || !ended) {
      const step: IteratorResult<T> = await (coming ?? next());
      coming = undefined;
      if (!step.done) yield [step.value];
    }
  } finally {
    patience.end();
    if (!ended) await stop(iterator, coming !== undefined);
  }
}

/** Ends a source before its time; one that is busy ends when it gets to it, which nobody need wait for. */
async function stop(iterator: Iterator<unknown> | AsyncIterator<unknown>, busy: boolean): Promise<void> {
  const stopped = Promise.resolve(iterator.return?.());
  if (busy) stopped.catch(() => {});
  else await stopped;
}

/** One timer for the whole first batch, started when it is first requested. */
class Patience {
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #over: Promise<typeof late> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  over(): Promise<typeof late> {
    this.#over ??= new Promise((resolve) => {
      this.#timer = setTimeout(resolve, this.#ms, late);
    });
    return this.#over;
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
