const uuidForm = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Minimum number of id characters shown; prefixes of this length are accepted as input. */
const leastShown = 8;

/** Maximum number of ids to compare, which bounds memory for lists of any length. */
const mostCompared = 1000;

/** Shortens the ids of a table to unambiguous prefixes. */
export class ShortIds {
  readonly #byBeginning = new Map<string, Set<string>>();
  #compared = 0;

  /** Registers an id; must precede showing any id with the same prefix. */
  learn(id: unknown): void {
    if (typeof id !== 'string' || !uuidForm.test(id) || this.#compared >= mostCompared) return;
    const beginning = id.slice(0, leastShown);
    const known = this.#byBeginning.get(beginning) ?? new Set();
    this.#byBeginning.set(beginning, known.add(id));
    this.#compared += 1;
  }

  /** The first eight characters of a UUID, more if another known id shares them; other ids stay whole. */
  short(id: string): string {
    if (!uuidForm.test(id)) return id;
    let length = leastShown;
    for (const other of this.#byBeginning.get(id.slice(0, leastShown)) ?? [])
      while (other !== id && other.slice(0, length) === id.slice(0, length)) length += 1;
    return id.slice(0, length);
  }
}
