import type { Column } from '../../format/result.ts';

export const addressColumns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 10 },
  { name: 'default', path: 'default', kind: 'flag', weight: 5 },
  {
    name: 'recipient',
    path: 'recipient',
    weight: 9,
    value: ({ first_name, last_name }) => joined(first_name, last_name),
  },
  {
    name: 'street',
    path: 'address_line1',
    weight: 8,
    value: (it) => joined(it.address_line1, it.address_line2),
  },
  { name: 'postal code', path: 'postal_code', weight: 6 },
  { name: 'city', path: 'city', weight: 7 },
  { name: 'state', path: 'state', weight: 4 },
  { name: 'country', path: 'country', weight: 6 },
  { name: 'phone', path: 'phone_number', weight: 3 },
];

const joined = (...parts: unknown[]): string =>
  parts.filter((part) => typeof part === 'string' && part !== '').join(' ');
