/** So long after the last look at a lock it is waited for anew, ms. */
const forgottenAfterMs = 60_000;

/**
 * What one run has waited for in vain: its waits for locks of other processes have one deadline together, however many
 * there are, until a lock that was held is free.
 */
export class Patience {
  readonly #held = new Map<string, { readonly since: number; readonly seen: number }>();

  /** A lock is held. @param now monotonic, ms. @returns since when the run has waited, for this lock or another that is held. */
  since(lock: string, now: number): number {
    for (const [name, { seen }] of this.#held) if (now - seen >= forgottenAfterMs) this.#held.delete(name);
    this.#held.set(lock, { since: this.#held.get(lock)?.since ?? now, seen: now });
    return Math.min(...Array.from(this.#held.values(), ({ since }) => since));
  }

  /** A lock was got. */
  free(lock: string): void {
    this.#held.delete(lock);
  }
}
