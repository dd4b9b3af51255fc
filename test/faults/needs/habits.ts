import type { Random } from '../random.ts';

/** How a service behaves where its specification leaves room, drawn for each history. */
export interface Habits {
  /** After this time a key may be used again, ms; undefined if keys are remembered for good. */
  readonly forgetsKeysMs: number | undefined;
  /** Whose orders a key must be unique among. */
  readonly keysOf: 'user' | 'organisation' | 'everyone';
  /** How long a new order is missing from lists, ms. */
  readonly lagMs: number;
  /** `already_exists` does not name the order. */
  readonly hidesExisting: boolean;
  /** A failed row of a batch comes without the columns it was sent with. */
  readonly hidesRowColumns: boolean;
  /** Spells fields of order records in its own way. */
  readonly normalises: boolean;
}

export const plainHabits: Habits = {
  forgetsKeysMs: undefined,
  keysOf: 'organisation',
  lagMs: 0,
  hidesExisting: false,
  hidesRowColumns: false,
  normalises: false,
};

const hourMs = 3_600_000;

export function habitsOf(random: Random): Habits {
  const chance = (share: number): boolean => random.next() < share;
  return {
    forgetsKeysMs: chance(0.5) ? random.integer(12, 30) * hourMs : undefined,
    keysOf: random.pick(['user', 'organisation', 'organisation', 'everyone']),
    lagMs: chance(0.4) ? random.integer(1, 120) * 1000 : 0,
    hidesExisting: chance(0.3),
    hidesRowColumns: chance(0.3),
    normalises: chance(0.3),
  };
}
