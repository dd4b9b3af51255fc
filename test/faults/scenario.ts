import type { Blow } from './attempt.ts';
import { type NetworkFault, networkFaults } from './proxy.ts';
import type { Random } from './random.ts';

/** Everything that goes wrong in one run; it follows from the seed. */
export interface Scenario {
  /** One order, a CSV of several, or one that is paid by challenge. */
  readonly what: 'order' | 'csv' | 'paid';
  /** With a key of the user's own, or with the one that errand makes. */
  readonly ownKey: boolean;
  readonly faults: readonly NetworkFault[];
  /** One for each of the first attempts; undefined leaves it alone. */
  readonly blows: readonly (Blow | undefined)[];
  /** Two processes with one key at the same time. */
  readonly twice: boolean;
  /** Nothing listens at first. */
  readonly refusedFirst: boolean;
  /** The proxy goes away while the first attempt works, and comes back. */
  readonly proxyDies: boolean;
  readonly clockBackAtRetry: boolean;
}

const moments = ['request-came', 'work-done', 'half-answered'] as const;
const signals = ['SIGKILL', 'SIGKILL', 'SIGINT', 'SIGTERM'] as const;

export function scenarioOf(random: Random): Scenario {
  const chance = (share: number): boolean => random.next() < share;
  const draw = random.next();
  const what = draw < 0.15 ? 'csv' : draw < 0.3 ? 'paid' : 'order';
  const ownKey = what !== 'order' || chance(0.5);
  return {
    what,
    ownKey,
    faults: Array.from({ length: random.integer(0, 3) }, () => random.pick(networkFaults)),
    blows: Array.from({ length: random.integer(0, 2) }, () => (chance(0.7) ? blowOf(random) : undefined)),
    twice: ownKey && chance(0.15),
    refusedFirst: chance(0.1),
    proxyDies: chance(0.1),
    clockBackAtRetry: chance(0.1),
  };
}

function blowOf(random: Random): Blow {
  const signal = random.pick(signals);
  if (random.next() < 0.5) return { signal, at: random.pick(moments) };
  return { signal, afterMs: random.integer(20, 260) };
}
