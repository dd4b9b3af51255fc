import type { World } from './world.ts';

/** A machine: its clock, its name, and the processes that are alive on it. */
export class Machine {
  readonly name: string;
  /** How far its clock is ahead, ms. */
  skewMs: number;
  readonly pids = new Map<number, string>();
  readonly #world: World;
  #lastPid = 1000;

  constructor(world: World, name: string, skewMs = 0) {
    this.#world = world;
    this.name = name;
    this.skewMs = skewMs;
  }

  get now(): number {
    return this.#world.clock.now + this.skewMs;
  }

  /** @returns the pid of a process that begins now. */
  begin(): number {
    this.#lastPid += 1;
    this.pids.set(this.#lastPid, String(this.#world.clock.now));
    return this.#lastPid;
  }
}
