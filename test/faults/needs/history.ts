import { Random } from '../random.ts';
import { type DoorName, namingDoors, ownJournalDoors } from './doors.ts';
import { type Habits, habitsOf } from './habits.ts';
import { type Moment, type RequestFault, requestFaults, type User } from './service.ts';

/** What somebody wants once. */
export interface Need {
  /** Known to the generator and the service alone: `metadata.hidden` of its orders. */
  readonly hidden: string;
  readonly organisation: 'ours' | 'another';
  readonly slug: 'test-success' | 'test-slow' | 'test-two-packages' | 'test-out-of-stock';
  readonly quantity: number;
  readonly recipient: number;
  readonly reference: string | undefined;
  readonly namespace: string | undefined;
  /** The door its orders come through, and that of the three commands at the end. */
  readonly door: DoorName;
}

/** The end of a command before its time, by SIGKILL at the nth request from then. */
export interface RequestKill {
  readonly request: number;
  readonly at: Moment;
}

/** The same right before the nth effect of its process, which only a simulation can do. */
export interface EffectKill {
  readonly effect: number;
  /** Every process ends there, and the disk may forget what was not synced. */
  readonly isPowerCut: boolean;
  /** The process goes on, and whatever it writes from there on fails: its disk is full. */
  readonly isDiskFull?: boolean;
}

export type Kill = RequestKill | EffectKill;

/** One command. */
export interface Run {
  readonly door: DoorName;
  readonly machine: number;
  /** Indexes of its needs; a single order has one. */
  readonly needs: readonly number[];
  /** 0 is the plain spelling; any other number draws another. */
  readonly spelling: number;
  /** The order is for one more of each product. */
  readonly isMore: boolean;
  /** Says that another order is meant: `--again`, `--new` or `--run`, as the door has it. */
  readonly isMeant: boolean;
  readonly faults: readonly RequestFault[];
  readonly readFaults: readonly RequestFault[];
  readonly kill: Kill | undefined;
}

export type Step =
  | { readonly do: 'run'; readonly runs: readonly [Run, ...Run[]] }
  | { readonly do: 'pass'; readonly ms: number }
  /** What becomes of a live order of a need at the service. */
  | { readonly do: 'cancel' | 'fail' | 'return'; readonly need: number }
  /** Somebody orders a need elsewhere. */
  | { readonly do: 'order elsewhere'; readonly need: number };

export interface Machine {
  readonly user: User;
  /** Its journal; machines with one number share it. */
  readonly journal: number;
  /** How far its clock is ahead, ms. */
  readonly skewMs: number;
}

export interface History {
  readonly seed: number;
  /** The journals are in one database. */
  readonly isShared: boolean;
  readonly habits: Habits;
  readonly machines: readonly Machine[];
  readonly needs: readonly Need[];
  readonly steps: readonly Step[];
  /** What a policy lets our machines spend in a month, cents. */
  readonly maxCents?: number | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Time that may pass in all, ms, so that an order without a reference stays within the window of its door. */
const withinMs: Readonly<Record<'single' | 'row' | 'referenced', number>> = {
  single: 11 * hourMs,
  row: 5 * dayMs,
  referenced: 29 * dayMs,
};

export interface Drawing {
  /** Whether the journals are in one database. */
  readonly isShared?: boolean;
  /** The greatest effect at which a command is killed; without it, commands are killed at requests alone. */
  readonly lastEffect?: number;
}

/** @param on doors to draw from. */
export function historyOf(
  seed: number,
  on: readonly DoorName[],
  { isShared = false, lastEffect }: Drawing = {},
): History {
  const random = new Random(seed);
  const chance = (share: number): boolean => random.next() < share;
  const habits = habitsOf(random);
  const machines = machinesOf(random);
  const needs = needsOf(random, on, habits);
  const machineFor = (need: Need): number =>
    random.pick(machines.flatMap((one, at) => (knowsOf(one, need, isShared) ? [at] : [])));
  const killOf = (isAmong: boolean): Kill | undefined => {
    if (lastEffect !== undefined && chance(0.2))
      return { effect: random.integer(1, lastEffect), isPowerCut: chance(0.4) };
    if (isAmong || !chance(0.07)) return undefined;
    return { request: random.integer(1, 6), at: random.pick(['came', 'done']) };
  };
  const runOf = (door: DoorName, at: number, isAmong: boolean): Run => {
    const need = needs[at];
    if (!need) throw new Error(`there is no need ${at}`);
    const isHurt = !isAmong && chance(0.3);
    const isFile = fileDoors.has(door);
    const others = needs.flatMap((other, index) =>
      isFile &&
      index !== at &&
      other.door === need.door &&
      other.organisation === need.organisation &&
      chance(0.6)
        ? [index]
        : [],
    );
    return {
      door,
      machine: machineFor(need),
      needs: [at, ...others].sort((one, other) => one - other),
      spelling: chance(0.4) ? 0 : random.integer(1, 1_000_000),
      isMore: chance(0.06),
      isMeant: chance(0.04),
      faults: isHurt
        ? [random.pick(requestFaults), ...(chance(0.3) ? [random.pick(requestFaults)] : [])]
        : [],
      readFaults: chance(0.08) ? [random.pick(requestFaults.filter((one) => one !== 'late'))] : [],
      kill: killOf(isAmong),
    };
  };
  const budget = Math.min(...needs.map((need) => withinMs[windowOf(need)]));
  let left = budget;
  const steps: Step[] = [];
  const passing = (wanted: number): Step => {
    const ms = Math.min(wanted, Math.floor(left / 2));
    left -= ms;
    return { do: 'pass', ms };
  };
  const pass = (): Step =>
    passing(random.pick([2000, 70_000, 5 * minuteMs, hourMs, 13 * hourMs, 25 * hourMs, 7 * dayMs]));
  for (let count = random.integer(4, 14); count > 0; count -= 1) {
    const need = random.integer(0, needs.length - 1);
    const { door = 'reference' } = needs[need] ?? {};
    const draw = random.next();
    if (draw < 0.55) steps.push({ do: 'run', runs: [runOf(door, need, false)] });
    else if (draw < 0.62) steps.push({ do: 'run', runs: [runOf(door, need, true), runOf(door, need, true)] });
    else if (draw < 0.76) steps.push(pass());
    else if (draw < 0.95) steps.push({ do: random.pick(['cancel', 'fail', 'return']), need });
    else if (needs[need]?.reference !== undefined && door !== 'agent')
      steps.push({ do: 'order elsewhere', need });
  }
  // Drawn last, so that the rest of a history does not depend on it.
  const stepsAgain = steps.flatMap((step): Step[] => {
    if (step.do !== 'run' || step.runs.length > 1) return [step];
    const [run] = step.runs;
    const {
      faults,
      kill,
      needs: [need = 0],
    } = run;
    const again = (hurts: readonly RequestFault[]): Step => ({
      do: 'run',
      runs: [{ ...run, faults: hurts, readFaults: [], kill: undefined }],
    });
    const isHurt = faults.length > 0 || kill !== undefined;
    if (isHurt && chance(0.4))
      return [
        step,
        ...(chance(0.4) ? [passing(31 * hourMs)] : []),
        again(chance(0.5) ? [random.pick(requestFaults)] : []),
      ];
    if (!isHurt && chance(0.3))
      return [step, { do: random.pick(['cancel', 'fail', 'return']), need }, again([])];
    return [step];
  });
  const maxCents =
    !isShared && haveOneJournal(machines) && chance(0.8) ? random.pick([32_000, 45_000, 70_000]) : undefined;
  const stepsOnDisks =
    lastEffect === undefined ? stepsAgain : stepsAgain.map((step) => onFullDisk(step, chance));
  return { seed, isShared, habits, machines, needs, steps: stepsOnDisks, maxCents };
}

/** Fills the disk for some of the processes that would be killed at an effect. */
function onFullDisk(step: Step, chance: (share: number) => boolean): Step {
  if (step.do !== 'run' || step.runs.length > 1) return step;
  const [run] = step.runs;
  const { kill } = run;
  if (!kill || !('effect' in kill) || kill.isPowerCut || !chance(0.4)) return step;
  return { ...step, runs: [{ ...run, kill: { ...kill, isDiskFull: true } }] };
}

/** Whether our machines count what they spend together, for one user and in the same month. */
const haveOneJournal = (machines: readonly Machine[]): boolean =>
  machines.every(
    ({ user, journal, skewMs }) => user === 'other' || (user === 'anna' && journal === 0 && skewMs === 0),
  );

/** Whether a machine belongs to a need's organisation, and knows of its orders: without a reference by their journal alone. */
export const knowsOf = (
  { user, journal }: Machine,
  { organisation, reference, door }: Need,
  isShared: boolean,
): boolean =>
  (user === 'other') === (organisation === 'another') &&
  (isShared || user === 'other' || journal === 0 || (reference !== undefined && !ownJournalDoors.has(door)));

/** Doors whose commands order several needs. */
export const fileDoors: ReadonlySet<string> = new Set(['upload', 'plan', 'retry']);

const windowOf = ({ door, reference }: Need): keyof typeof withinMs => {
  if (reference !== undefined) return 'referenced';
  return fileDoors.has(door) ? 'row' : 'single';
};

function machinesOf(random: Random): Machine[] {
  const skewOf = (): number =>
    random.next() < 0.2 ? random.pick([-hourMs, -2 * dayMs, 2 * dayMs, 40_000]) : 0;
  const machines = Array.from(
    { length: random.integer(1, 3) },
    (_, at): Machine => ({
      user: at > 0 && random.next() < 0.3 ? 'ben' : 'anna',
      journal: at > 0 && random.next() < 0.3 ? 0 : at,
      skewMs: skewOf(),
    }),
  );
  return [...machines, { user: 'other', journal: machines.length, skewMs: 0 }];
}

function needsOf(random: Random, on: readonly DoorName[], { keysOf }: Habits): Need[] {
  const named = random.next() < 0.2 ? 'shop' : undefined;
  // The rows of one file have references, or none has.
  const areNamed = random.next() < 0.5;
  const needs: Need[] = [];
  for (let left = random.integer(1, 4); left > 0; left -= 1) {
    const at = needs.length;
    const door = random.pick(on);
    const isNamed = namingDoors.has(door) && (door === 'reference' || areNamed);
    const isAnother = keysOf === 'everyone' && at > 0 && !ownJournalDoors.has(door) && random.next() < 0.3;
    needs.push({
      hidden: `n${at}`,
      organisation: isAnother ? 'another' : 'ours',
      slug: random.pick(['test-success', 'test-slow', 'test-slow', 'test-two-packages', 'test-out-of-stock']),
      quantity: random.integer(1, 2),
      // Two needs may be for one person, where references tell them apart.
      recipient: isNamed && needs.at(-1)?.reference !== undefined && random.next() < 0.3 ? at - 1 : at,
      // Another organisation may use the same references.
      reference: isNamed ? `REQ-${isAnother ? at - 1 : at}` : undefined,
      namespace: isNamed ? named : undefined,
      door,
    });
  }
  return needs;
}
