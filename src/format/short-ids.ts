const uuidForm = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Minimum number of characters shown of an id. Commands accept prefixes of this length. */
const minShown = 8;

/** Maximum number of ids to compare. It bounds the memory for lists of any length. */
const maxCompared = 1000;

/** Shortens the ids of a table to unambiguous prefixes. */
export class ShortIds {
  readonly #byPrefix = new Map<string, Set<string>>();
  #compared = 0;

  /** Registers an id. Call this before any id with the same prefix is shown. */
  learn(id: unknown): void {
    if (typeof id !== 'string' || !uuidForm.test(id) || this.#compared >= maxCompared) return;
    const prefix = id.slice(0, minShown);
    const known = this.#byPrefix.get(prefix) ?? new Set();
    this.#byPrefix.set(prefix, known.add(id));
    this.#compared += 1;
  }

  /**
   * Returns the first eight characters of a UUID, or more if another registered id starts in the same way. Other ids
   * stay whole.
   */
  short(id: string): string {
    if (!uuidForm.test(id)) return id;
    let length = minShown;
    for (const other of this.#byPrefix.get(id.slice(0, minShown)) ?? [])
      while (other !== id && other.slice(0, length) === id.slice(0, length)) length += 1;
    return id.slice(0, length);
  }
}
