import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { startSandbox } from '../../src/integrations/sdk/sandbox.ts';
import type { Habits } from '../faults/needs/habits.ts';
import type { History } from '../faults/needs/history.ts';
import { placeByLibrary } from '../faults/needs/library-call.mjs';
import { type Played, played, type Stage, type StageLine, startMs } from '../faults/needs/play.ts';
import { NeedsService } from '../faults/needs/service.ts';
import {
  habitsOfWeeks,
  type Played as PlayedWeeks,
  playedWeeks,
  startOfWeeks,
  type Weeks,
} from '../faults/standing/weeks.ts';
import type { Ended } from '../support/runner.ts';
import { Disk } from './disk.ts';
import { Machine } from './machine.ts';
import type { Slot } from './node.ts';
import { SimProcess } from './process.ts';
import type { Program } from './program.ts';
import { Connections } from './storage.ts';
import type { SimSocket } from './wire.ts';
import { World } from './world.ts';

/** The program and the library as they are built. */
export interface Built {
  readonly program: Program;
  readonly library: Program;
}

/** A history as it was played in a simulation. */
export interface Simulated extends Played {
  /** The same for each play of the same seed. */
  readonly trace: number;
  readonly steps: number;
}

type Main = (process: unknown) => Promise<number>;

/** Plays a history in one thread: its seed decides the order of everything that happens. */
export async function simulateHistory(history: History, built: Built): Promise<Simulated> {
  const { seed, habits, machines } = history;
  const scene = { seed, habits, machines: machines.length, startMs };
  const [result, world] = await onStage(scene, built, (stage) =>
    played(history, { ...stage, checksBooks: true }),
  );
  const { findings, log, commands } = result;
  return { findings, log, commands, trace: world.trace, steps: world.steps };
}

/** Plays weeks of standing orders in one thread. */
export async function simulateWeeks(weeks: Weeks, built: Built): Promise<PlayedWeeks> {
  const { seed, machines } = weeks;
  const scene = { seed, habits: habitsOfWeeks(weeks), machines, startMs: startOfWeeks };
  const [result] = await onStage(scene, built, (stage) => playedWeeks(weeks, stage));
  return result;
}

interface Scene {
  readonly seed: number;
  readonly habits: Habits;
  readonly machines: number;
  /** When it begins, ms since the epoch. */
  readonly startMs: number;
}

/** Has something played on a stage of its own. @returns what came of it, and the world it was played in. */
async function onStage<T>(
  { seed, habits, machines, startMs: start }: Scene,
  built: Built,
  play: (stage: Stage) => Promise<T>,
): Promise<readonly [T, World]> {
  const world = new World(seed, start);
  const folder = mkdtempSync(join(tmpdir(), 'errand-simulation-'));
  const theatre = new Theatre(world, built, folder, machines);
  try {
    const playing = theatre.open(habits).then(play);
    return [await world.until(playing, () => theatre.endStuck()), world];
  } finally {
    await world.until(theatre.close(), () => false);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The modules of a program, and the process that they run in. */
interface Loaded extends Slot {
  process: SimProcess;
  readonly main: Main;
}

/** How long what was sent is under way at most, with the service's work on it, ms. */
const arriveMs = 2000;

class Theatre {
  readonly #world: World;
  readonly #built: Built;
  readonly #folder: string;
  readonly #machines: readonly Machine[];
  readonly #disk = new Disk();
  readonly #connections = new Connections(this.#disk);
  readonly #running = new Set<SimProcess>();
  /** Modules that no process runs now. */
  readonly #idle: Loaded[] = [];
  readonly #places: (SimProcess | undefined)[] = [];
  #service: NeedsService | undefined;

  constructor(world: World, built: Built, folder: string, machines: number) {
    this.#world = world;
    this.#built = built;
    this.#folder = folder;
    this.#machines = Array.from({ length: machines }, (_, at) => new Machine(world, `machine-${at}`));
    world.afterEach = () => {
      for (const one of this.#running) one.endIfDone();
    };
  }

  /** Starts the service. */
  async open(habits: Habits): Promise<Stage> {
    const service = await this.#start(habits);
    this.#service = service;
    return {
      ...{ service, folder: this.#folder, killsAtEffects: true },
      run: (place, line) => this.#run(place, line, service),
      kill: async () => this.#places[0]?.kill(),
      arrive: () => new Promise((resolve) => void this.#world.plan(arriveMs, resolve)),
      place: (line, call) => this.#place(line, call, service),
    };
  }

  /** Starts the service in a process of its own, which no machine can kill. */
  #start(habits: Habits): Promise<NeedsService> {
    const world = this.#world;
    const line = { argv: [], env: {}, folder: this.#folder };
    const outside = { disk: this.#disk, connections: this.#connections, listen: () => false };
    const process = new SimProcess(world, new Machine(world, 'service'), line, outside);
    const load = this.#built.library.loader({ world, process });
    const { startSandbox: start } = load('sandbox.cjs') as { readonly startSandbox: typeof startSandbox };
    return NeedsService.unheard(habits, world.clock, start);
  }

  /** Runs a command line, in modules that other command lines have run in. */
  async #run(place: number, line: StageLine, service: NeedsService): Promise<Ended> {
    const process = this.#begin(line, service);
    this.#places[place] = process;
    const loaded = this.#loaded(process);
    const ended = await this.#ended(process, () => loaded.main(process.process));
    // What a killed process has left in its modules belongs to it alone.
    if (ended.code !== null) this.#idle.push(loaded);
    return ended;
  }

  /** Runs a program that places an order by the library. */
  #place(line: StageLine, call: object, service: NeedsService): Promise<Ended> {
    const process = this.#begin(line, service);
    this.#places[0] = process;
    const load = this.#built.library.loader({ world: this.#world, process });
    const library = { ...Object(load('index.cjs')), ...Object(load('safely.cjs')) };
    return this.#ended(process, async () => {
      process.print(await placeByLibrary(library, call));
      return 0;
    });
  }

  #begin({ machine: at, skewMs, kill, ...line }: StageLine, service: NeedsService): SimProcess {
    const machine = this.#machines[at];
    if (!machine) throw new Error(`there is no machine ${at}`);
    machine.skewMs = skewMs;
    const address = new URL(service.baseUrl).host;
    const listen = (socket: SimSocket, to: string): boolean => {
      if (to === address) service.accept(socket);
      return to === address;
    };
    const outside = { disk: this.#disk, connections: this.#connections, listen };
    const process = new SimProcess(this.#world, machine, line, outside);
    if (kill && 'effect' in kill) {
      process.killAt = kill.effect;
      if (kill.isPowerCut) process.onKill = () => this.#cutPower();
      if (kill.isDiskFull)
        process.onKill = () => {
          process.isDiskFull = true;
        };
    }
    return process;
  }

  /** All machines are in one house. */
  #cutPower(): void {
    for (const one of this.#running) one.kill();
    this.#disk.cutPower(this.#world.random);
  }

  async #ended(process: SimProcess, main: () => Promise<number>): Promise<Ended> {
    this.#running.add(process);
    const ended = await process.run(main);
    this.#running.delete(process);
    return ended;
  }

  #loaded(process: SimProcess): Loaded {
    const idle = this.#idle.pop();
    if (idle) return Object.assign(idle, { process });
    const slot = { world: this.#world, process };
    const { main } = this.#built.program.loader(slot)('main.cjs') as { readonly main: Main };
    return Object.assign(slot, { main });
  }

  /** Ends the processes that wait for what never comes. @returns whether there were any. */
  endStuck(): boolean {
    const isAny = this.#running.size > 0;
    for (const one of this.#running) one.failed(new Error('nothing is left to wait for'));
    return isAny;
  }

  async close(): Promise<void> {
    await this.#service?.stop();
    this.#connections.close();
  }
}
