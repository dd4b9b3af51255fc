import type { Mood } from '../../api/order-state.ts';

/** Whether it can be bought now; nothing where nobody says so. */
export const stock = {
  name: 'stock',
  path: 'available',
  kind: 'status',
  weight: 6,
  value: ({ available }: { readonly available?: unknown }): string =>
    available === true ? 'in stock' : available === false ? 'sold out' : '',
  mood: ({ available }: { readonly available?: unknown }): Mood | undefined =>
    available === true ? 'good' : available === false ? 'bad' : undefined,
} as const;
