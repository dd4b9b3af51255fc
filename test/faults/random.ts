/** Seeded random numbers (mulberry32), so that a failing run can be reproduced. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.integer(0, values.length - 1)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }

  /** Picks up to `most` of the values, in random order. */
  some<T>(values: readonly T[], most: number): T[] {
    const left = [...values];
    const drawn: T[] = [];
    while (drawn.length < most && left.length > 0)
      drawn.push(...left.splice(this.integer(0, left.length - 1), 1));
    return drawn;
  }
}
