const uuidForm = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Characters of an id that are shown at least; a beginning as long as this is accepted back. */
const leastShown = 8;

/** Ids that are compared with those that come later, so that a list of any length takes no more memory than this. */
const mostCompared = 1000;

/** Shortens the ids of one table to beginnings that tell them apart. */
export class ShortIds {
  readonly #byBeginning = new Map<string, Set<string>>();
  #compared = 0;

  /** Makes an id known, before any that shares its beginning is shown. */
  learn(id: unknown): void {
    if (typeof id !== 'string' || !uuidForm.test(id) || this.#compared >= mostCompared) return;
    const beginning = id.slice(0, leastShown);
    const known = this.#byBeginning.get(beginning) ?? new Set();
    this.#byBeginning.set(beginning, known.add(id));
    this.#compared += 1;
  }

  /** A UUID's first eight characters, more where another one that is known shares them; any other id whole. */
  short(id: string): string {
    if (!uuidForm.test(id)) return id;
    let length = leastShown;
    for (const other of this.#byBeginning.get(id.slice(0, leastShown)) ?? [])
      while (other !== id && other.slice(0, length) === id.slice(0, length)) length += 1;
    return id.slice(0, length);
  }
}
