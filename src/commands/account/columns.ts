import type { Shape } from '../../api/schemas/index.ts';
import type { Column } from '../../format/result.ts';

export const accountColumns: readonly Column<Shape<'ManagedAccount'>>[] = [
  { name: 'short id', path: 'short_id', kind: 'id', names: 'accounts', weight: 7 },
  { name: 'email', path: 'email', weight: 10, least: 24 },
  { name: 'retailer', path: 'retailer', weight: 9, value: ({ retailer }) => retailer ?? 'any' },
  { name: 'two-factor secret', path: 'has_totp', kind: 'flag', weight: 5 },
  { name: 'forwarding', path: 'has_forwarding', kind: 'flag', weight: 6 },
  { name: 'busy with', path: 'locked_by_job_id', kind: 'id', weight: 3 },
  { name: 'last used', path: 'last_used_at', kind: 'time', weight: 4 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 2 },
];

export const accountDetailColumns: readonly Column<Shape<'ManagedAccount'>>[] = [
  ...accountColumns,
  { name: 'forwarding address', path: 'forwarding_email', weight: 7 },
];
