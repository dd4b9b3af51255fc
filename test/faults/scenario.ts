import type { Blow, DiskFault, Stdout } from './attempt.ts';
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
  /** Where the output of the first attempts goes. */
  readonly stdouts: readonly Stdout[];
  /** What fails on the disk in the first attempts. */
  readonly disks: readonly (DiskFault | undefined)[];
  /** How many processes run the same command at the same time. */
  readonly crowd: number;
  /** What follows a failure: the same command, or what the journal says. */
  readonly sameAgain: boolean;
  /** Nothing listens at first. */
  readonly refusedFirst: boolean;
  /** The proxy goes away while the first attempt works, and comes back. */
  readonly proxyDies: boolean;
  /** What the clock of this machine says in the second attempt and two more, ms beside the true time. */
  readonly clockShiftMs: number;
  /** The service spells fields its own way. */
  readonly normalises: boolean;
  /** From the second attempt on another profile with the same key is used. */
  readonly otherProfile: boolean;
  /** Under a policy whose day has room for what is meant, and for not a cent more. */
  readonly policy: boolean;
}

export const quiet: Scenario = {
  what: 'order',
  ownKey: false,
  faults: [],
  blows: [],
  stdouts: [],
  disks: [],
  crowd: 1,
  sameAgain: false,
  refusedFirst: false,
  proxyDies: false,
  clockShiftMs: 0,
  normalises: false,
  otherProfile: false,
  policy: false,
};

const moments = ['request-came', 'work-done', 'half-responded', 'responded', 'responded'] as const;
const signals = ['SIGKILL', 'SIGKILL', 'SIGINT', 'SIGTERM'] as const;
const hourMs = 3_600_000;

export function scenarioOf(random: Random): Scenario {
  const chance = (share: number): boolean => random.next() < share;
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random.integer(0, most) }, make);
  const draw = random.next();
  const what = draw < 0.15 ? 'csv' : draw < 0.3 ? 'paid' : 'order';
  const ownKey = what === 'csv' || chance(0.4);
  return {
    what,
    ownKey,
    faults: some(3, () => random.pick(networkFaults)),
    blows: some(2, () => (chance(0.7) ? blowOf(random) : undefined)),
    stdouts: chance(0.15) ? some(2, () => random.pick(['read', 'full', 'closed'] as const)) : [],
    disks: chance(0.1) ? some(2, () => (chance(0.8) ? diskOf(random) : undefined)) : [],
    crowd: chance(0.12) ? random.integer(2, 4) : 1,
    sameAgain: ownKey || chance(0.6),
    refusedFirst: chance(0.08),
    proxyDies: chance(0.08),
    clockShiftMs: chance(0.15) ? random.pick([-hourMs, -48 * hourMs, 49 * hourMs, 30 * 24 * hourMs]) : 0,
    normalises: chance(0.3),
    otherProfile: chance(0.1),
    policy: chance(0.3),
  };
}

export function blowOf(random: Random): Blow {
  const signal = random.pick(signals);
  const twice = signal === 'SIGINT' && random.next() < 0.5;
  if (random.next() < 0.6) return { signal, twice, at: random.pick(moments), afterMs: random.integer(0, 25) };
  return { signal, twice, afterMs: random.integer(20, 260) };
}

function diskOf(random: Random): DiskFault {
  const call = random.pick(['pwrite64', 'pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'openat'] as const);
  return { call, error: random.pick(['EIO', 'ENOSPC'] as const), when: random.integer(1, 30) };
}
