import type { OrderContext } from './order-context.ts';

const minuteMs = 60_000;

/** Default time after an order in which a similar single order counts as its duplicate, ms. */
export const defaultWindowMs = { live: 12 * 60 * minuteMs, test: 10 * minuteMs } as const;

/** Time after an order in which a similar single order counts as its duplicate, ms. 0 disables the check. */
export const duplicateWindowMs = ({
  settings,
  isRehearsal,
}: Pick<OrderContext, 'settings' | 'isRehearsal'>): number =>
  settings.duplicateWindowMs.value ?? defaultWindowMs[isRehearsal() ? 'test' : 'live'];
