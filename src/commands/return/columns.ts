import { objectsIn } from '../../api/json.ts';
import type { Unchecked } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { plainText } from '../../format/path.ts';
import type { Column, TitleOf } from '../../format/result.ts';
import { lineNames } from '../../orders/columns.ts';

/**
 * Columns of a return, for every format. A label link grants access to the label, so tables show only the number of
 * labels.
 */
export const returnColumns: readonly Column<Shape<'ReturnRequest'>>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'returns', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'reason', path: 'reason', weight: 6 },
  { name: 'credited', path: 'credited_amount', kind: 'money', weight: 8 },
  {
    name: 'labels',
    path: 'labels',
    kind: 'count',
    weight: 5,
    value: ({ label_urls }) => list(label_urls).length,
  },
  { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 7 },
  { name: 'retailer return', path: 'merchant_return_id', weight: 2 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 4 },
];

/** Columns for the detail view of one return. */
export const returnDetailColumns: readonly Column<Shape<'ReturnRequest'>>[] = [
  ...returnColumns.slice(0, 2),
  { name: 'outcome', path: 'resolution_notes' },
  ...returnColumns.slice(2, 7),
  { name: 'items', path: 'items', value: (record) => itemsOf(record) },
  { name: 'notes', path: 'notes' },
  { name: 'created', path: 'created_at', kind: 'time' },
  { name: 'updated', path: 'updated_at', kind: 'time' },
];

/** Detail columns that show each item by its title in the order. */
export const titledColumns = (order: unknown): readonly Column<Shape<'ReturnRequest'>>[] =>
  returnDetailColumns.map((column) =>
    column.name === 'items'
      ? { ...column, value: (record, titleOf) => itemsOf(record, order, titleOf), usesTitles: true }
      : column,
  );

function itemsOf({ items }: Unchecked<Shape<'ReturnRequest'>>, order?: unknown, titleOf?: TitleOf): string {
  const nameLine = lineNames(order, titleOf);
  const lines = objectsIn(order, 'items');
  return objectsIn({ items }, 'items')
    .map(({ quantity, order_item_id: id }) => {
      const line = lines.find((one) => one.id === id);
      return `${plainText(quantity)} x ${line ? nameLine(line) : plainText(id)}`;
    })
    .join('; ');
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
