/** Statements of one document that are looked at; the contract itself makes about 6,000. */
export const mostStatements = 200_000;
/** Characters that cost as much as a statement. */
const charactersEach = 100;

/**
 * How much of a document may be looked at, whatever its references make of it: a few lines can spell out millions of
 * fields. A comparison that it runs out on is worth nothing.
 */
export class Budget {
  #left = mostStatements;

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** One statement, and the characters that are handled with it. */
  spend(characters = 0): void {
    this.#left -= 1 + characters / charactersEach;
  }
}
