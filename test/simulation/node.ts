import crypto from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { filesOf } from './files.ts';
import type { SimProcess } from './process.ts';
import { databaseClass } from './storage.ts';
import { SimSocket } from './wire.ts';
import type { Owner, World } from './world.ts';

/** What loaded modules run in: one process after another. */
export interface Slot {
  readonly world: World;
  readonly process: SimProcess;
}

/** Gives one of Node's own modules. */
export type Builtin = (id: string) => unknown;

/** Globals that a program's code has in place of Node's own. */
export function globalsOf(slot: Slot, builtin: Builtin): Readonly<Record<string, unknown>> {
  const timer = (run: (...given: unknown[]) => void, ms: number, given: unknown[], isRepeated = false) =>
    new SimTimer(slot.world, slot.process, () => run(...given), ms, isRepeated);
  const clear = (one: unknown): void => {
    if (one instanceof SimTimer) one.cancel();
  };
  const fakes: Record<string, unknown> = {
    process: processOf(slot, builtin),
    Date: dateOf(() => slot.process.machine.now),
    Math: Object.create(Math, { random: { value: () => slot.world.random.next() } }),
    setTimeout: (run: () => void, ms = 0, ...given: unknown[]) => timer(run, ms, given),
    setInterval: (run: () => void, ms = 0, ...given: unknown[]) => timer(run, ms, given, true),
    setImmediate: (run: () => void, ...given: unknown[]) => timer(run, 0, given),
    ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
    performance: { now: () => slot.world.clock.now, timeOrigin: 0, mark() {}, measure() {} },
    fetch: () => Promise.reject(new Error('the simulation has no fetch')),
    WebAssembly: compiledHere(),
  };
  const whole: unknown = Object.create(globalThis, Object.getOwnPropertyDescriptors(fakes));
  return { ...fakes, globalThis: whole, global: whole };
}

/** The global `process`: that of whichever process runs now. */
const processOf = (slot: Slot, getBuiltinModule: Builtin): object =>
  new Proxy(
    { getBuiltinModule },
    {
      get: (own, key) => Reflect.get(key in own ? own : slot.process.process, key),
      set: (_, key, value) => Reflect.set(slot.process.process, key, value),
      has: (_, key) => Reflect.has(slot.process.process, key),
      defineProperty: (_, key, value) => Reflect.defineProperty(slot.process.process, key, value),
    },
  );

/** Node's own modules, as a program has them. */
export function modulesOf(slot: Slot, processModule: unknown): Readonly<Record<string, unknown>> {
  const { world } = slot;
  const { fs, promises } = filesOf({
    disk: slot.process.disk,
    effect: (what, space) => slot.process.effect(what, space),
    later: (work) => slot.process.later(work),
    resolve: (file) => slot.process.resolve(file),
    procFile: (file) => slot.process.procFile(file),
  });
  const bytes = (size: number): Buffer => {
    const made = Buffer.alloc(size);
    for (let at = 0; at < size; at += 1) made[at] = world.random.integer(0, 255);
    return made;
  };
  const connectTo = (to: { readonly host?: string; readonly hostname?: string; readonly port?: number }) =>
    slot.process.connect(`${to.host ?? to.hostname ?? '127.0.0.1'}:${to.port ?? 80}`);
  class Agent extends http.Agent {
    override createConnection(options: object): SimSocket {
      return connectTo(options);
    }
  }
  const resolve = (...parts: string[]): string => path.resolve(slot.process.folder, ...parts);
  const noProgram = (): never => {
    throw Object.assign(new Error('the simulation starts no other program'), { code: 'ENOENT' });
  };
  return {
    ...{ fs, 'fs/promises': promises, process: processModule },
    path: {
      ...path,
      resolve,
      relative: (from: string, to: string) => path.relative(resolve(from), resolve(to)),
    },
    crypto: Object.create(crypto, {
      randomBytes: { value: bytes },
      randomUUID: { value: () => uuid(bytes(16)) },
      randomInt: { value: (max: number) => world.random.integer(0, max - 1) },
    }),
    os: Object.create(os, {
      hostname: { value: () => slot.process.machine.name },
      homedir: { value: () => slot.process.home },
      tmpdir: { value: () => slot.process.folder },
      userInfo: { value: () => ({ ...os.userInfo(), username: 'user' }) },
    }),
    net: Object.create(net, {
      Socket: { value: SimSocket },
      connect: { value: connectTo },
      createConnection: { value: connectTo },
    }),
    http: Object.create(http, { Agent: { value: Agent } }),
    tty: { isatty: () => false, ReadStream: SimSocket, WriteStream: SimSocket },
    child_process: { spawn: noProgram, execFile: noProgram, spawnSync: noProgram },
    perf_hooks: { performance, PerformanceObserver: NoObserver },
    v8: { setFlagsFromString() {}, getHeapSpaceStatistics: () => [] },
    sqlite: {
      DatabaseSync: databaseClass({
        open: (file, options) => slot.process.openDatabase(file, options),
        effect: (what, space) => slot.process.effect(what, space),
      }),
    },
  };
}

class NoObserver {
  observe(): void {}
  disconnect(): void {}
}

/** What `setTimeout` returns. */
class SimTimer {
  readonly #world: World;
  readonly #owner: Owner;
  readonly #run: () => void;
  readonly #ms: number;
  readonly #isRepeated: boolean;
  #isAwaited = true;
  #planned: { cancel(): void } | undefined;

  constructor(world: World, owner: Owner, run: () => void, ms: number, isRepeated: boolean) {
    this.#world = world;
    this.#owner = owner;
    this.#run = run;
    // As Node has it.
    this.#ms = ms > 2 ** 31 - 1 || !(ms >= 0) ? 1 : ms;
    this.#isRepeated = isRepeated;
    this.refresh();
  }

  refresh(): this {
    this.cancel();
    this.#planned = this.#world.plan(
      this.#ms,
      () => {
        this.#planned = undefined;
        if (this.#isRepeated) this.refresh();
        this.#run();
      },
      { owner: this.#owner, isAwaited: this.#isAwaited },
    );
    return this;
  }

  cancel(): void {
    this.#planned?.cancel();
    this.#planned = undefined;
  }

  ref(): this {
    return this.#awaited(true);
  }

  unref(): this {
    return this.#awaited(false);
  }

  hasRef(): boolean {
    return this.#isAwaited;
  }

  #awaited(isAwaited: boolean): this {
    if (this.#isAwaited === isAwaited) return this;
    this.#isAwaited = isAwaited;
    if (this.#planned) this.refresh();
    return this;
  }
}

/** Compiled by a thread, a module would be ready at a time that no seed decides. */
function compiledHere(): object {
  const real: { readonly Module: new (bytes: unknown) => object } = Reflect.get(globalThis, 'WebAssembly');
  return Object.create(real, { compile: { value: async (bytes: unknown) => new real.Module(bytes) } });
}

/** `Date` by a machine's clock. */
function dateOf(now: () => number): DateConstructor {
  return new Proxy(Date, {
    construct: (_, given, target) => Reflect.construct(Date, given.length === 0 ? [now()] : given, target),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
}

function uuid(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
