/** A pseudo-random number stream, fully determined by its seed (mulberry32). */
export class Random {
  #state: number;

  private constructor(state: number) {
    this.#state = state;
  }

  /**
   * Creates a named stream. Streams are independent, so additional draws from one stream do not affect the other
   * streams.
   */
  static of(...name: readonly (string | number)[]): Random {
    return new Random(hash(name.join('\n')));
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A random integer between `min` and `max`, inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.integer(0, values.length - 1)] ?? values[0];
  }

  /** A random subset of at least `minCount` values, in their original order. */
  some<T>(values: readonly T[], minCount: number): T[] {
    const left = values.slice();
    let drop = this.integer(0, Math.max(0, values.length - minCount));
    for (; drop > 0; drop -= 1) left.splice(this.integer(0, left.length - 1), 1);
    return left;
  }
}

/** 32-bit hash of a text: FNV-1a with MurmurHash3 finalization. */
export function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
