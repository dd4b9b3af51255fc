import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { startSandbox } from '../../src/integrations/sdk/sandbox.ts';
import type { History } from '../faults/needs/history.ts';
import { placeByLibrary } from '../faults/needs/library-call.mjs';
import { type Played, played, type Stage, type StageLine, startMs } from '../faults/needs/play.ts';
import { NeedsService } from '../faults/needs/service.ts';
import { Disk } from './disk.ts';
import { Machine } from './machine.ts';
import type { Slot } from './node.ts';
import { type Ended, SimProcess } from './process.ts';
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
  const world = new World(history.seed, startMs);
  const folder = mkdtempSync(join(tmpdir(), 'errand-simulation-'));
  const theatre = new Theatre(world, history, built, folder);
  try {
    const { findings, log, commands } = await world.until(theatre.play(), () => theatre.endStuck());
    return { findings, log, commands, trace: world.trace, steps: world.steps };
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

class Theatre {
  readonly #world: World;
  readonly #history: History;
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

  constructor(world: World, history: History, built: Built, folder: string) {
    this.#world = world;
    this.#history = history;
    this.#built = built;
    this.#folder = folder;
    this.#machines = history.machines.map((_, at) => new Machine(world, `machine-${at}`));
    world.afterEach = () => {
      for (const one of this.#running) one.endIfDone();
    };
  }

  async play(): Promise<Played> {
    const service = await this.#start();
    this.#service = service;
    const stage: Stage = {
      ...{ service, folder: this.#folder, checksBooks: true },
      run: (place, line) => this.#run(place, line, service),
      kill: async () => this.#places[0]?.kill(),
      place: (line, call) => this.#place(line, call, service),
    };
    return played(this.#history, stage);
  }

  /** Starts the service in a process of its own, which no machine can kill. */
  #start(): Promise<NeedsService> {
    const world = this.#world;
    const line = { argv: [], env: {}, folder: this.#folder };
    const outside = { disk: this.#disk, connections: this.#connections, listen: () => false };
    const process = new SimProcess(world, new Machine(world, 'service'), line, outside);
    const load = this.#built.library.loader({ world, process });
    const { startSandbox: start } = load('sandbox.cjs') as { readonly startSandbox: typeof startSandbox };
    return NeedsService.unheard(this.#history.habits, world.clock, start);
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
