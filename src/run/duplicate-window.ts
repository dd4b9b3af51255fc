import type { OrderContext } from './order-context.ts';

const minuteMs = 60_000;

/** How long a single order counts as a duplicate unless the user has set another time, ms. */
export const defaultWindowMs = { live: 12 * 60 * minuteMs, test: 10 * minuteMs } as const;

/** How long a single order counts as a duplicate of one that is alike, ms. 0 disables the check. */
export const duplicateWindowMs = ({
  settings,
  isRehearsal,
}: Pick<OrderContext, 'settings' | 'isRehearsal'>): number =>
  settings.duplicateWindowMs.value ?? defaultWindowMs[isRehearsal() ? 'test' : 'live'];
