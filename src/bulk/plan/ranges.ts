/** Row numbers as `--rows` takes them: `2-501, 517`. In ascending order. Pure. */
export function rangesText(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges: [first: number, last: number][] = [];
  for (const number of sorted) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}

/** `row 3`, or `rows 2-501, 517`. */
export const rowsNamed = (numbers: readonly number[]): string =>
  `${new Set(numbers).size === 1 ? 'row' : 'rows'} ${rangesText(numbers)}`;
