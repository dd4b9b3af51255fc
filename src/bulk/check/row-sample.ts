import { countText } from '../../format/counts.ts';

export const rowsText = (count: number): string => (count === 1 ? '1 row' : `${countText(count)} rows`);

/** Number of rows that have something in common, and the first of these rows. */
export interface RowSample {
  count: number;
  readonly first: number[];
}

/** Maximum rows listed. */
const maxListed = 3;

export const noRows = (): RowSample => ({ count: 0, first: [] });

/** Counts a row, and lists it among the first rows unless it is listed already. */
export function addRow(sample: RowSample, row: number): void {
  sample.count += 1;
  if (sample.first.length < maxListed && !sample.first.includes(row)) sample.first.push(row);
}

/** Whether there are more rows than are named. */
export const hasMore = ({ count, first }: RowSample): boolean => count > first.length;
