import { numberIn } from '../contract/json.ts';
import type { Unchecked } from '../contract/received.ts';
import type { Shape } from '../contract/schemas/index.ts';
import type { Column } from '../output/result.ts';
import { type Reasons, reasonOf } from './reasons.ts';

export const issueColumns: readonly Column[] = [
  { name: 'row', path: 'row', weight: 10 },
  { name: 'column', path: 'column', weight: 9 },
  { name: 'value', path: 'value', weight: 7 },
  { name: 'what is wrong', path: 'message', weight: 8, isProse: true },
];

export const batchColumns: readonly Column<Shape<'BulkBatchResponse'>>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'batches', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'rows', path: 'row_count', kind: 'count', weight: 8 },
  { name: 'ordered', path: 'placed_count', kind: 'count', weight: 7 },
  { name: 'refused', path: 'failed_count', kind: 'count', weight: 6 },
  { name: 'file', path: 'filename', weight: 5 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 4 },
];

const placeIn = (row: Unchecked<Shape<'BulkRowResult'>>): number | undefined => {
  const index = numberIn(row, 'index');
  return index === undefined ? undefined : index + 1;
};

/** A batch with its rows. @param numberOf the row's number in its file, where that is known here. */
export const batchDetailColumns = (
  numberOf: ((index: number) => number | undefined) | undefined,
  reasons: Reasons,
): readonly Column<Shape<'BulkBatchResponse'>>[] => [
  ...batchColumns,
  { name: 'notified', path: 'notified_at', kind: 'time', weight: 1 },
  {
    name: 'rows in it',
    path: 'rows',
    columns: [
      numberOf
        ? { name: 'row', path: 'index', weight: 10, value: (row) => numberOf(numberIn(row, 'index') ?? -1) }
        : { name: 'place', path: 'index', weight: 10, value: placeIn },
      { name: 'status', path: 'status', kind: 'status', weight: 9 },
      { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 8 },
      { name: 'order status', path: 'order_status', kind: 'status', weight: 7 },
      { name: 'recipient', path: 'recipient', weight: 4 },
      { name: 'why', path: 'error', weight: 6, isProse: true, value: (row) => reasonOf(row, reasons) },
    ],
  },
];

export const uploadedColumns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'batches', weight: 10 },
  { name: 'rows', path: 'rows', kind: 'count', weight: 9 },
  { name: 'existed', path: 'existed', kind: 'flag', weight: 8 },
];
