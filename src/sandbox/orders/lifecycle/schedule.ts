import type { Draw } from './draw.ts';

/** The compressed clock: ms after an order's start at which each stage is reached. */
export const stageDelays = {
  started: 1_000,
  settled: 2_500,
  tracked: 3_500,
  cancelledByRetailer: 4_500,
  accepted: 5_500,
  hub: 6_600,
  outForDelivery: 7_900,
  ended: 9_000,
} as const;
export type Stage = keyof typeof stageDelays;

/** How long `test-slow` stays pending, ms. */
export const slowStartMs = 60_000;
/** Parcels of one order follow each other within this, ms, so that the last still ends within about 10 s. */
const staggerMs = 500;
const jitterMs = { min: -150, max: 250 };

/** When a stage is reached, in ms since the epoch; `share` (0 to 1) says how far a parcel trails the first. */
export type Schedule = (stage: Stage, share?: number) => number;

export function scheduleFor(
  draw: Draw,
  startAt: number,
  options: { speed: number; slow: boolean },
): Schedule {
  const jitter = jitterMs.min + draw.fraction('jitter') * (jitterMs.max - jitterMs.min);
  const late = options.slow ? slowStartMs - stageDelays.started : 0;
  return (stage, share = 0) => {
    const spread = stage === 'started' ? 0 : jitter + share * staggerMs;
    return startAt + Math.round((late + stageDelays[stage] + spread) / options.speed);
  };
}
