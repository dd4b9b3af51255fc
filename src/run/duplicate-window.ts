import type { OrderContext } from './order-context.ts';

const minuteMs = 60_000;

/** Default time, in ms, during which a similar single order counts as a duplicate of an earlier order. */
export const defaultWindowMs = { live: 12 * 60 * minuteMs, test: 10 * minuteMs } as const;

/** Time, in ms, during which a similar single order counts as a duplicate of an earlier order. 0 disables the check. */
export const duplicateWindowMs = ({
  settings,
  isRehearsal,
}: Pick<OrderContext, 'settings' | 'isRehearsal'>): number =>
  settings.duplicateWindowMs.value ?? defaultWindowMs[isRehearsal() ? 'test' : 'live'];
