import fs from 'node:fs';
import { Readable } from 'node:stream';
import type { Disk } from './disk.ts';
import type { Effect } from './storage.ts';

/** What a process's files need of it. */
export interface FileHost {
  readonly disk: Disk;
  readonly effect: Effect;
  /** Does work later, as the system does. The promise stays open if the process ends meanwhile. */
  later<T>(work: () => T): Promise<T>;
  /** The absolute path of one that a program gave. */
  resolve(path: fs.PathLike): fs.PathLike;
  /** The text of a file under /proc; undefined if it is none of the simulation's. */
  procFile(path: string): string | undefined;
}

/** Calls that take a path, two paths, and a descriptor. */
const onePath = [
  ...['accessSync', 'chmodSync', 'existsSync', 'lstatSync', 'mkdirSync', 'mkdtempSync', 'openSync'],
  ...[
    'readdirSync',
    'readlinkSync',
    'realpathSync',
    'rmSync',
    'rmdirSync',
    'statSync',
    'unlinkSync',
    'utimesSync',
  ],
] as const;
const twoPaths = ['copyFileSync', 'linkSync', 'renameSync'] as const;
const byDescriptor = [
  ...['closeSync', 'fchmodSync', 'fstatSync', 'fsyncSync', 'readSync', 'writeSync'],
] as const;
const eitherWay = ['readFileSync', 'writeFileSync'] as const;

type Call = (...given: unknown[]) => unknown;
const called = fs as unknown as Readonly<Record<string, Call>>;
const callOf = (name: string): Call => called[name] ?? missing(name);

/** What a program finds under stdin, stdout and stderr: neither a file, nor a pipe, nor a terminal. */
const stream = Object.assign(Object.create(fs.Stats.prototype), { mode: 0o140_600, dev: 0, ino: 0 });

/** `node:fs` and `node:fs/promises` of one process, on real files. */
export function filesOf(host: FileHost): { readonly fs: object; readonly promises: object } {
  const sync: Record<string, unknown> = { constants: fs.constants, Stats: fs.Stats };
  const pathOf = (path: unknown): unknown =>
    typeof path === 'string' || path instanceof URL || Buffer.isBuffer(path) ? host.resolve(path) : path;
  for (const name of onePath)
    sync[name] = (path: unknown, ...more: unknown[]) => {
      const [flags] = more;
      const writes =
        name === 'openSync' && (typeof flags === 'number' ? (flags & 3) !== 0 : /[wa+]/.test(`${flags}`));
      const isNew = writes || name === 'mkdirSync' || name === 'mkdtempSync';
      host.effect(`${name} ${path}`, isNew ? 'file' : undefined);
      if (name === 'rmSync' || name === 'unlinkSync') host.disk.forgets(String(pathOf(path)));
      const made = callOf(name)(pathOf(path), ...more);
      if (writes) host.disk.writes(String(pathOf(path)), !`${flags}`.startsWith('w'));
      return made;
    };
  for (const name of twoPaths)
    sync[name] = (from: unknown, to: unknown, ...more: unknown[]) => {
      host.effect(`${name} ${from} ${to}`, name === 'copyFileSync' ? 'file' : undefined);
      if (name === 'renameSync') host.disk.forgets(String(pathOf(to)));
      callOf(name)(pathOf(from), pathOf(to), ...more);
      if (name === 'copyFileSync') host.disk.writes(String(pathOf(to)), false);
      else host.disk.renamed(String(pathOf(to)));
    };
  for (const name of byDescriptor)
    sync[name] = (descriptor: unknown, ...more: unknown[]) => {
      host.effect(
        `${name} ${more.length}`,
        name === 'writeSync' || name === 'fsyncSync' ? 'file' : undefined,
      );
      if (typeof descriptor === 'number' && descriptor < 3 && name === 'fstatSync') return stream;
      if (name === 'fsyncSync') host.disk.synced(fs.fstatSync(Number(descriptor)).ino);
      return callOf(name)(descriptor, ...more);
    };
  for (const name of eitherWay)
    sync[name] = (file: unknown, ...more: unknown[]) => {
      host.effect(
        `${name} ${typeof file === 'number' ? '' : file}`,
        name === 'writeFileSync' ? 'file' : undefined,
      );
      if (typeof file === 'string' && file.startsWith('/proc/')) {
        const text = host.procFile(file);
        if (text !== undefined) return text;
        throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT' });
      }
      const made = callOf(name)(pathOf(file), ...more);
      if (name === 'writeFileSync' && typeof file !== 'number') {
        host.disk.writes(String(pathOf(file)), false);
        if (Object(more[1]).flush === true) host.disk.forgets(String(pathOf(file)));
      }
      return made;
    };
  for (const name of [...onePath, ...twoPaths, ...byDescriptor, ...eitherWay])
    sync[name.slice(0, -4)] = (...given: unknown[]) => {
      const done = given.pop() as (error: unknown, result?: unknown) => void;
      host.later(() => (sync[name] as Call)(...given)).then((result) => done(null, result), done);
    };
  const realpath = sync.realpathSync;
  sync.realpathSync = Object.assign(realpath as Call, { native: realpath });
  const promises = promisesOf(host, sync as Readonly<Record<string, Call>>);
  sync.promises = promises;
  sync.createReadStream = (path: fs.PathLike, options?: { readonly highWaterMark?: number }) =>
    readStream(host, sync as Readonly<Record<string, Call>>, path, options?.highWaterMark);
  return { fs: closed('node:fs', sync), promises: closed('node:fs/promises', promises) };
}

/** A module whose missing members say so when they are used. */
function closed(name: string, members: Record<string, unknown>): object {
  const whole = { ...members, default: members };
  return new Proxy(whole, {
    get: (target, key) =>
      typeof key === 'symbol' || key in target ? Reflect.get(target, key) : () => missing(`${name}: ${key}`),
  });
}

function missing(name: string): never {
  throw new Error(`the simulation has no ${name}`);
}

function promisesOf(host: FileHost, sync: Readonly<Record<string, Call>>): Record<string, unknown> {
  const promises: Record<string, unknown> = {};
  for (const name of [...onePath, ...twoPaths, ...eitherWay]) {
    if (name !== 'openSync' && name !== 'existsSync')
      promises[name.slice(0, -4)] = (...given: unknown[]) => host.later(() => sync[name]?.(...given));
  }
  promises.open = (...given: unknown[]) =>
    host.later(() => new Handle(host, sync, Number(sync.openSync?.(...given))));
  return promises;
}

/** A `FileHandle`. */
class Handle {
  readonly fd: number;
  readonly #host: FileHost;
  readonly #sync: Readonly<Record<string, Call>>;
  #isClosed = false;

  constructor(host: FileHost, sync: Readonly<Record<string, Call>>, fd: number) {
    this.#host = host;
    this.#sync = sync;
    this.fd = fd;
  }

  stat(): Promise<unknown> {
    return this.#host.later(() => this.#sync.fstatSync?.(this.fd));
  }

  sync(): Promise<unknown> {
    return this.#host.later(() => this.#sync.fsyncSync?.(this.fd));
  }

  async read(buffer: Buffer, offset = 0, length = buffer.length, at: number | null = null) {
    const bytesRead = await this.#host.later(() =>
      this.#sync.readSync?.(this.fd, buffer, offset, length, at),
    );
    return { bytesRead, buffer };
  }

  readFile(options?: unknown): Promise<unknown> {
    return this.#host.later(() => this.#sync.readFileSync?.(this.fd, options));
  }

  writeFile(data: unknown): Promise<unknown> {
    return this.#host.later(() => this.#sync.writeFileSync?.(this.fd, data));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#host.later(() => this.#sync.closeSync?.(this.fd));
  }
}

function readStream(
  host: FileHost,
  sync: Readonly<Record<string, Call>>,
  path: fs.PathLike,
  size = 64 * 1024,
): Readable {
  async function* chunks() {
    const fd = await host.later(() => sync.openSync?.(path, 'r'));
    try {
      for (;;) {
        const buffer = Buffer.allocUnsafe(size);
        const length = Number(await host.later(() => sync.readSync?.(fd, buffer, 0, size, null)));
        if (length === 0) return;
        yield buffer.subarray(0, length);
      }
    } finally {
      sync.closeSync?.(fd);
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}
