/** Whether a typed word differs from a known word by only a few typos. */
export function isNear(typed: string, word: string): boolean {
  const limit = Math.max(1, Math.floor(Math.max(typed.length, word.length) / 4));
  return Math.abs(word.length - typed.length) <= limit && slipsBetween(typed, word) <= limit;
}

/**
 * The known word that the user probably meant. Undefined if there is none. A word that differs by only a few typos
 * comes before a word that contains the typed word or is contained in it.
 */
export const nearestWord = (typed: string, known: readonly string[]): string | undefined =>
  known.find((word) => isNear(typed, word)) ??
  known.find((word) => typed.length >= 3 && (word.includes(typed) || typed.includes(word)));

/** Adds to an error message the known word that the user probably meant, if there is one. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const near = nearestWord(typed, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Edit distance between two words. Counts deletions, insertions, substitutions and swaps. */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const cost = (line: readonly number[], at: number): number => line[at] ?? Number.POSITIVE_INFINITY;
      current.push(
        Math.min(
          cost(last, column) + 1,
          cost(current, column - 1) + 1,
          cost(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? cost(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = last;
    last = current;
  }
  return last.at(-1) ?? 0;
}
