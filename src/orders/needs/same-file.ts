import type { Attempt } from '../../journal/attempts.ts';

/** An earlier upload that a file repeats. */
export interface EarlierUpload {
  readonly upload: string;
  /** How many rows of the file are like live rows of it. */
  readonly rows: number;
}

/** Finds whether a file is an earlier one again, saved anew, whatever its age. Rows that have a reference say nothing of that. */
export class SameFile {
  readonly #rowsOf = new Map<string, number>();
  #rows = 0;

  /** One row without a reference, with the attempts that have to do with it. */
  add(related: readonly Attempt[]): void {
    this.#rows += 1;
    const uploads = related
      .filter(({ likeness, state }) => likeness === 'alike' && state === 'placed')
      .flatMap(({ upload }) => upload ?? []);
    for (const upload of new Set(uploads)) this.#rowsOf.set(upload, (this.#rowsOf.get(upload) ?? 0) + 1);
  }

  /** The upload of which at least half of the rows are; undefined where there is none. */
  found(): EarlierUpload | undefined {
    const [first] = [...this.#rowsOf]
      .map(([upload, rows]) => ({ upload, rows }))
      .toSorted((one, other) => other.rows - one.rows);
    return first && first.rows * 2 >= this.#rows ? first : undefined;
  }
}
