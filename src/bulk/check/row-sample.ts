import { countText } from '../../format/counts.ts';

export const rowsText = (count: number): string => (count === 1 ? '1 row' : `${countText(count)} rows`);

/** The number of rows that share some property, and the numbers of the first of these rows. */
export interface RowSample {
  count: number;
  readonly first: number[];
}

/** Maximum number of rows to list. */
const maxListed = 3;

export const noRows = (): RowSample => ({ count: 0, first: [] });

/** Counts a row, and lists its number if there is room and the number is not listed yet. */
export function addRow(sample: RowSample, row: number): void {
  sample.count += 1;
  if (sample.first.length < maxListed && !sample.first.includes(row)) sample.first.push(row);
}

/** Whether the sample counts more rows than it lists. */
export const hasMore = ({ count, first }: RowSample): boolean => count > first.length;
