import type { Column } from '../../output/result.ts';

export const preferenceColumns: readonly Column[] = [
  { name: 'preference', path: 'name', weight: 10 },
  { name: 'value', path: 'value', weight: 9 },
  { name: 'what it does', path: 'description', weight: 8, isProse: true },
];
