import type { Attempt } from '../../journal/attempts.ts';

/** An earlier upload that a file repeats. */
export interface EarlierUpload {
  readonly upload: string;
  /** Number of rows in the file that match live rows of the upload. */
  readonly rows: number;
}

/**
 * Detects that a file repeats an earlier upload, for example because the file was saved again. The upload may be of any
 * age. Rows with a reference do not count.
 */
export class SameFile {
  readonly #rowsOf = new Map<string, number>();
  #rows = 0;

  /** Adds a row without a reference, and the attempts that are related to the row. */
  add(related: readonly Attempt[]): void {
    this.#rows += 1;
    const uploads = related
      .filter(({ likeness, state }) => likeness === 'alike' && state === 'placed')
      .flatMap(({ upload }) => upload ?? []);
    for (const upload of new Set(uploads)) this.#rowsOf.set(upload, (this.#rowsOf.get(upload) ?? 0) + 1);
  }

  /** The upload that at least half of the rows repeat; undefined if there is no such upload. */
  found(): EarlierUpload | undefined {
    const [first] = [...this.#rowsOf]
      .map(([upload, rows]) => ({ upload, rows }))
      .toSorted((one, other) => other.rows - one.rows);
    return first && first.rows * 2 >= this.#rows ? first : undefined;
  }
}
