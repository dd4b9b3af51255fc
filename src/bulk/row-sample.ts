/** How many rows of a file have something in common, and the first of them. */
export interface RowSample {
  count: number;
  readonly first: number[];
}

/** Rows that are named. */
const most = 3;

export const noRows = (): RowSample => ({ count: 0, first: [] });

/** Counts a row; one that is named already is counted, and not named again. */
export function addRow(sample: RowSample, row: number): void {
  sample.count += 1;
  if (sample.first.length < most && !sample.first.includes(row)) sample.first.push(row);
}

/** Whether there are more rows than are named. */
export const hasMore = ({ count, first }: RowSample): boolean => count > first.length;
