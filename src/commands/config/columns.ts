import type { Column } from '../../format/result.ts';

export const preferenceColumns: readonly Column[] = [
  { name: 'preference', path: 'name', weight: 10 },
  { name: 'value', path: 'value', weight: 9 },
  { name: 'what it does', path: 'description', weight: 8, isProse: true },
];

/** On a terminal what is not set says so: a column that is empty in every row is left out there. */
export const preferenceScreen: readonly Column[] = preferenceColumns.map((column) =>
  column.path === 'value' ? { ...column, value: ({ value }) => value ?? 'not set' } : column,
);
