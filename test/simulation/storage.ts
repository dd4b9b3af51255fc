import { statSync } from 'node:fs';
import { loadSqlite, type Sqlite, type Statement } from '../../src/platform/sqlite/load.ts';
import type { Disk } from './disk.ts';

const Native = loadSqlite();

/** Where an operation takes space on the disk. */
export type Space = 'file' | 'database';

/** Called before each operation of storage. Throws if the process has ended there, or the disk is full. */
export type Effect = (what: string, space?: Space) => void;

type Value = string | number | bigint | null | Uint8Array;

/** A connection to a database file, with its statements. */
export class Connection {
  readonly inode: number | undefined;
  readonly #sqlite: Sqlite;
  readonly #path: string;
  readonly #disk: Disk;
  readonly #statements = new Map<string, Statement>();
  #syncs = true;
  #isInTransaction = false;
  #changes = 0;

  constructor(path: string, options: OpenOptions, disk: Disk) {
    this.#sqlite = new Native(path, options);
    this.#path = path;
    this.#disk = disk;
    this.inode = inodeOf(path);
  }

  exec(sql: string): void {
    const [, mode] = /PRAGMA synchronous = (\w+)/.exec(sql) ?? [];
    if (mode !== undefined) this.#syncs = mode === 'FULL';
    const hasChanged = sql === 'COMMIT' && this.#path !== ':memory:' && this.#hasChanged();
    if (hasChanged && !this.#syncs) this.#disk.commitsUnsynced(this.#path);
    this.#sqlite.exec(sql);
    if (/^BEGIN/.test(sql)) this.#isInTransaction = true;
    if (sql === 'COMMIT' || sql === 'ROLLBACK') this.#isInTransaction = false;
    if (hasChanged && this.#syncs) this.#disk.syncedDatabase(this.#path);
  }

  /** Where a statement takes space on the disk: where it commits rows. */
  spaceOf(sql: string): Space | undefined {
    if (this.#path === ':memory:') return undefined;
    const commits =
      sql === 'COMMIT' ? this.#changesNow() !== this.#changes : !this.#isInTransaction && writes.test(sql);
    return commits ? 'database' : undefined;
  }

  /** Whether rows have changed since it was asked last. */
  #hasChanged(): boolean {
    const before = this.#changes;
    this.#changes = this.#changesNow();
    return this.#changes !== before;
  }

  /** Rows that were changed since it was opened. */
  #changesNow(): number {
    const { n } = Object(this.prepare('SELECT total_changes() AS n').get());
    return Number(n);
  }

  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const made = this.#sqlite.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  /** What was not committed is gone, as when the system closes the file of a process that has died. */
  abandon(): void {
    this.#isInTransaction = false;
    try {
      this.#sqlite.exec('ROLLBACK');
    } catch {
      // Nothing was begun.
    }
  }

  close(): void {
    this.#statements.clear();
    this.#sqlite.close();
  }
}

const writes = /^\s{0,9}(?:INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|PRAGMA user_version =)/;

export interface OpenOptions {
  readonly readOnly?: boolean;
}

/**
 * The connections of all processes. Those of processes that have ended are lent again, for opening a database takes
 * longer than most of what is done with it.
 */
export class Connections {
  readonly #disk: Disk;
  readonly #idle = new Map<string, Connection[]>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** @returns a connection, and what gives it back. */
  open(path: string, options: OpenOptions): readonly [Connection, () => void] {
    const name = `${path}\n${options.readOnly ?? false}`;
    const idle = this.#idle.get(name) ?? [];
    this.#idle.set(name, idle);
    const connection = this.#reused(idle, path) ?? new Connection(path, options, this.#disk);
    let isOpen = true;
    const release = (): void => {
      if (!isOpen) return;
      isOpen = false;
      connection.abandon();
      if (path === ':memory:') connection.close();
      else idle.push(connection);
    };
    return [connection, release];
  }

  #reused(idle: Connection[], path: string): Connection | undefined {
    const inode = inodeOf(path);
    for (let one = idle.pop(); one; one = idle.pop()) {
      if (one.inode === inode) return one;
      // Another file has its name now.
      one.close();
    }
    return undefined;
  }

  close(): void {
    for (const one of [...this.#idle.values()].flat()) one.close();
    this.#idle.clear();
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

/** What a process needs for its databases. */
export interface StorageHost {
  readonly effect: Effect;
  /** @returns a connection, and what closes it. */
  open(file: string, options: OpenOptions): readonly [Connection, () => void];
}

/** The class `DatabaseSync` of a process. Each operation is a point at which the process can end. */
export function databaseClass(host: StorageHost): unknown {
  return class DatabaseSync {
    readonly #connection: Connection;
    readonly #release: () => void;

    constructor(file: string, options: OpenOptions = {}) {
      [this.#connection, this.#release] = host.open(file, options);
    }

    exec(sql: string): void {
      host.effect(sql, this.#connection.spaceOf(sql));
      this.#connection.exec(sql);
    }

    prepare(sql: string): unknown {
      host.effect(`prepare ${sql}`);
      return new StatementSync(this.#connection, sql, host);
    }

    close(): void {
      host.effect('close');
      this.#release();
    }
  };
}

class StatementSync {
  readonly #connection: Connection;
  readonly #native: Statement;
  readonly #sql: string;
  readonly #host: StorageHost;

  constructor(connection: Connection, sql: string, host: StorageHost) {
    this.#connection = connection;
    this.#native = connection.prepare(sql);
    this.#sql = sql;
    this.#host = host;
  }

  get(...values: Value[]): unknown {
    this.#effect();
    return this.#native.get(...values);
  }

  all(...values: Value[]): unknown {
    this.#effect();
    return this.#native.all(...values);
  }

  run(...values: Value[]): unknown {
    this.#effect();
    return this.#native.run(...values);
  }

  #effect(): void {
    this.#host.effect(this.#sql, this.#connection.spaceOf(this.#sql));
  }
}
