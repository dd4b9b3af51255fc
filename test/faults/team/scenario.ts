import type { Blow } from '../attempt.ts';
import { type NetworkFault, networkFaults } from '../proxy.ts';
import type { Random } from '../random.ts';
import { blowOf } from '../scenario.ts';

/**
 * What happens to the connections between a process and the team's database, for as long as the process runs. `refused`
 * from its beginning or from the moment that its request is at the service; a `cut` breaks those that are open at that
 * moment; a commit is lost on its way or its answer is; after so many bytes the connection breaks, or goes silent.
 */
export type DatabaseFault =
  | { readonly kind: 'refused'; readonly from: 'start' | 'request-came' | 'work-done' }
  | { readonly kind: 'cut' | 'silence'; readonly at: 'request-came' | 'work-done' | 'responded' }
  | {
      readonly kind: 'commit';
      /** How many commits go well before it. */
      readonly after: number;
      readonly arrives: boolean;
      readonly end: 'cut' | 'silence';
    }
  | { readonly kind: 'bytes'; readonly bytes: number; readonly end: 'cut' | 'silence' };

/** Everything that goes wrong in one run of a team; it follows from the seed. */
export interface TeamScenario {
  /** One order, a CSV of several, or one that is paid by challenge. */
  readonly what: 'order' | 'csv' | 'paid';
  /** With a key of the user's own, or with the one that errand makes. */
  readonly ownKey: boolean;
  /** What follows a failure: the same command, or what the journal says. */
  readonly sameAgain: boolean;
  /** Between the program and the service. */
  readonly faults: readonly NetworkFault[];
  /** Between the program and the database, one for each of the first attempts. */
  readonly databaseFaults: readonly (DatabaseFault | undefined)[];
  /** What is done to the process of each of the first attempts. */
  readonly blows: readonly (Blow | undefined)[];
  /** How many machines take turns. */
  readonly machines: number;
  /** How many processes run the same command at the same time, on one machine after the other. */
  readonly crowd: number;
  /** A machine whose attempt has failed is thrown away with all of its files. */
  readonly thrownAway: boolean;
  /** Whether the leases of processes that are gone have ended when the next attempt begins; else it comes too early, once. */
  readonly leasesEnd: boolean;
  /** Under a published policy whose day has room for what is meant, and for not a cent more. */
  readonly policy: boolean;
}

export function teamScenarioOf(random: Random): TeamScenario {
  const chance = (share: number): boolean => random.next() < share;
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random.integer(0, most) }, make);
  const draw = random.next();
  const what = draw < 0.15 ? 'csv' : draw < 0.3 ? 'paid' : 'order';
  const ownKey = what === 'csv' || chance(0.3);
  return {
    what,
    ownKey,
    sameAgain: ownKey || chance(0.6),
    faults: chance(0.4) ? some(2, () => random.pick(networkFaults)) : [],
    databaseFaults: some(3, () => (chance(0.75) ? databaseFaultOf(random) : undefined)),
    blows: chance(0.5) ? some(2, () => (chance(0.7) ? blowOf(random) : undefined)) : [],
    machines: random.integer(1, 3),
    crowd: chance(0.25) ? random.integer(2, 4) : 1,
    thrownAway: chance(0.25),
    leasesEnd: chance(0.8),
    policy: chance(0.2),
  };
}

const moments = ['request-came', 'work-done', 'responded'] as const;

function databaseFaultOf(random: Random): DatabaseFault {
  // What is silent is waited for: less often, or a run would take minutes.
  const end = random.next() < 0.12 ? 'silence' : 'cut';
  const draw = random.next();
  if (draw < 0.15)
    return { kind: 'refused', from: random.pick(['start', 'request-came', 'work-done'] as const) };
  if (draw < 0.4) return { kind: end, at: random.pick(moments) };
  if (draw < 0.75) return { kind: 'commit', after: random.integer(0, 3), arrives: random.next() < 0.6, end };
  return { kind: 'bytes', bytes: random.integer(1, 24_000), end };
}
