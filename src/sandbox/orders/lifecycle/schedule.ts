import { hash } from 'node:crypto';

/** When the stages of the compressed timeline begin, in ms after the start of the order. */
const stageDelays = {
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

/** How long an order of `test-slow` stays pending, in ms. */
const slowStartMs = 60_000;
/**
 * Maximum offset, in ms, between the parcels of an order. It is so small that the last parcel's journey ends within
 * about 10 s.
 */
const staggerMs = 500;
const jitterMs = { min: -150, max: 250 };

/**
 * Returns the time of a stage, in ms since the epoch. `lag` (0 to 1) is how far a parcel is behind the first parcel.
 */
export type Schedule = (stage: Stage, lag?: number) => number;

export function scheduleFor(
  draw: Draw,
  startAt: number,
  options: { speed: number; slow: boolean },
): Schedule {
  const jitter = jitterMs.min + draw.fraction('jitter') * (jitterMs.max - jitterMs.min);
  const late = options.slow ? slowStartMs - stageDelays.started : 0;
  return (stage, lag = 0) => {
    const spread = stage === 'started' ? 0 : jitter + lag * staggerMs;
    return startAt + Math.round((late + stageDelays[stage] + spread) / options.speed);
  };
}

/**
 * Random values derived from the seed and the order. Every draw has a name, so an additional draw does not change the
 * others.
 */
export interface Draw {
  /** In [0, 1). */
  fraction(name: string): number;
  /** `count` is at most 18. */
  digits(name: string, count: number): string;
  uuid(name: string): string;
  pick<T>(name: string, choices: readonly [T, ...T[]]): T;
}

export function drawFor(seed: string | number, orderId: string): Draw {
  const digest = (name: string) => hash('sha256', `${seed}\n${orderId}\n${name}`, 'buffer');
  const fraction = (name: string) => digest(name).readUInt32BE(0) / 2 ** 32;
  return {
    fraction,
    digits: (name, count) => {
      const number = digest(name).readBigUInt64BE(8) % 10n ** BigInt(count);
      return number.toString().padStart(count, '0');
    },
    uuid: (name) => {
      const hex = digest(name).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
    pick: (name, choices) => choices[Math.floor(fraction(name) * choices.length)] ?? choices[0],
  };
}
