import { EventEmitter } from 'node:events';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Ended } from '../support/runner.ts';
import type { Disk } from './disk.ts';
import type { Machine } from './machine.ts';
import type { Connection, Connections, OpenOptions, Space } from './storage.ts';
import { SimSocket } from './wire.ts';
import type { Owner, World } from './world.ts';

/** One command line, as its user gives it. */
export interface Line {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly stdin?: string;
}

/** What is outside of a process. */
export interface Outside {
  readonly disk: Disk;
  readonly connections: Connections;
  /** Gives a connection to whoever listens at an address; false if nobody does. */
  listen(socket: SimSocket, address: string): boolean;
}

/** Time between two readings of the monotonic clock, ms. */
const readingMs = 1 / 128;

/** Thrown where a process has ended, so that none of its code has an effect any more. */
class Over extends Error {
  override readonly name = 'Over';
}

const fullDisk = (space: Space): Error =>
  space === 'file'
    ? Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    : Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });

/** A process of the program, in a machine of the simulation. */
export class SimProcess implements Owner {
  readonly pid: number;
  readonly machine: Machine;
  /** The global `process` of its code. */
  readonly process: EventEmitter;
  isOver = false;
  /** How many effects it has had: operations of files and databases, and connections. */
  effects = 0;
  /** It is killed right before this effect. */
  killAt = Number.POSITIVE_INFINITY;
  /** Whatever takes space on its disk fails. */
  isDiskFull = false;
  /** Called where it is killed. */
  onKill: () => void = () => this.kill();
  readonly #world: World;
  readonly #line: Line;
  readonly #outside: Outside;
  readonly #open: (() => void)[] = [];
  readonly #out: Buffer[] = [];
  readonly #err: Buffer[] = [];
  #ended: Pick<Ended, 'code' | 'crash'> = { code: null };
  #code: number | undefined;
  #onEnd: () => void = () => {};

  constructor(world: World, machine: Machine, line: Line, outside: Outside) {
    this.#world = world;
    this.machine = machine;
    this.#line = line;
    this.#outside = outside;
    this.pid = machine.begin();
    this.process = this.#nodeProcess();
  }

  get disk(): Disk {
    return this.#outside.disk;
  }

  get folder(): string {
    return this.#line.folder;
  }

  get home(): string {
    return this.#line.env.HOME ?? '/';
  }

  /** Runs a program. The world's events bring it to its end. */
  run(main: () => Promise<number>): Promise<Ended> {
    const ended = new Promise<Ended>((resolve) => {
      this.#onEnd = () =>
        resolve({
          ...{ ...this.#ended, busyMs: 0 },
          stdout: Buffer.concat(this.#out).toString(),
          stderr: Buffer.concat(this.#err).toString(),
        });
    });
    main().then(
      (code) => {
        this.#code = code;
        this.endIfDone();
      },
      (error) => this.failed(error),
    );
    return ended;
  }

  /** Ends the process if its program is done, and nothing keeps it alive. */
  endIfDone(): void {
    if (!this.isOver && this.#code !== undefined && !this.#world.hasWork(this))
      this.#end({ code: this.#code });
  }

  /** Kills the process, as SIGKILL does. */
  kill(): void {
    this.#end({ code: null });
  }

  failed(error: unknown): void {
    if (this.isOver || error instanceof Over) return;
    this.#end({ code: null, crash: error instanceof Error ? `${error.stack}` : String(error) });
  }

  #end(ended: Pick<Ended, 'code' | 'crash'>): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#ended = ended;
    this.machine.pids.delete(this.pid);
    // What the system does for a process that is gone.
    for (const close of this.#open) close();
    this.#onEnd();
  }

  /** Comes before each effect. @throws if the process has ended, or if the effect takes space and its disk is full. */
  effect(what: string, space?: Space): void {
    if (!this.isOver) {
      this.effects += 1;
      this.#world.note(what.length);
      if (this.effects === this.killAt) this.onKill();
    }
    if (this.isOver) throw new Over(`ended before ${what}`);
    if (space && this.isDiskFull) throw fullDisk(space);
  }

  /** Does work later. The promise stays open if the process ends meanwhile. */
  later<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(work());
        } catch (error) {
          if (!(error instanceof Over)) reject(error);
        }
      };
      this.#world.plan(0, run, { owner: this });
    });
  }

  connect(address: string): SimSocket {
    this.effect('connect');
    const [client, server] = SimSocket.pair(this.#world, this);
    this.#open.push(() => client.abandon());
    const open = (): void => {
      server.connecting = false;
      if (this.#outside.listen(server, address)) client.opened();
      else client.destroy(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    };
    this.#world.plan(1, open, { owner: this });
    return client;
  }

  /** @returns a connection to a database, and how it is closed. */
  openDatabase(file: string, options: OpenOptions): readonly [Connection, () => void] {
    this.effect(`open ${file}`);
    const opened = this.#outside.connections.open(file === ':memory:' ? file : this.resolve(file), options);
    this.#open.push(opened[1]);
    return opened;
  }

  /** Prints to stdout. */
  print(text: string): void {
    if (!this.isOver) this.#out.push(Buffer.from(text));
  }

  procFile(name: string): string | undefined {
    const [, pid = ''] = /^\/proc\/(self|\d+)\/stat$/.exec(name) ?? [];
    const started = this.machine.pids.get(pid === 'self' ? this.pid : Number(pid));
    return started === undefined ? undefined : `${pid} (node) S 1 1 1 ${'0 '.repeat(15)}${started} 0`;
  }

  resolve(given: unknown): string {
    return path.resolve(this.folder, given instanceof URL ? fileURLToPath(given) : String(given));
  }

  #nodeProcess(): EventEmitter {
    const { argv, env, folder, stdin = '' } = this.#line;
    const { platform, arch, version, versions, execPath, release, nextTick, memoryUsage } = process;
    const { getuid, geteuid, getgid, getegid } = process;
    // Time passes with work too: what works until a time has come must get there.
    let readings = 0;
    const startMs = this.#world.clock.now;
    const monotonic = (): number => {
      readings += 1;
      return 1_000_000 + this.#world.clock.now - startMs + readings * readingMs;
    };
    return Object.assign(new EventEmitter(), {
      ...{ platform, arch, version, versions, execPath, release, nextTick, memoryUsage },
      ...{ getuid, geteuid, getgid, getegid, pid: this.pid, ppid: 1, title: 'node', execArgv: [] },
      argv: [execPath, 'errand', ...argv],
      env: { ...env },
      stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)], { objectMode: false }),
      stdout: this.#sink(this.#out),
      stderr: this.#sink(this.#err),
      exitCode: undefined,
      cwd: () => folder,
      exit: (code: number) => {
        this.#end({ code });
        throw new Over('the program has ended itself');
      },
      kill: (pid: number) => {
        if (this.machine.pids.has(pid)) return true;
        throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
      },
      hrtime: Object.assign(
        () => {
          const ms = monotonic();
          return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)];
        },
        { bigint: () => BigInt(Math.round(monotonic() * 1_000_000)) },
      ),
      emitWarning: () => {},
      umask: () => 0o022,
      uptime: () => 1,
    });
  }

  #sink(chunks: Buffer[]): Writable {
    return new Writable({
      write: (chunk, _, done) => {
        if (!this.isOver) chunks.push(Buffer.from(chunk));
        done();
      },
    });
  }
}
