import { statSync } from 'node:fs';
import { loadSqlite, type Sqlite, type Statement } from '../../src/platform/sqlite/load.ts';

const Native = loadSqlite();

/** Called before each operation of storage. Throws if the process has ended there. */
export type Effect = (what: string) => void;

type Value = string | number | bigint | null | Uint8Array;

/** A connection to a database file, with its statements. */
export class Connection {
  readonly sqlite: Sqlite;
  readonly inode: number | undefined;
  readonly #statements = new Map<string, Statement>();

  constructor(path: string, options: OpenOptions) {
    this.sqlite = new Native(path, options);
    this.inode = inodeOf(path);
  }

  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const made = this.sqlite.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  /** What was not committed is gone, as when the system closes the file of a process that has died. */
  abandon(): void {
    try {
      this.sqlite.exec('ROLLBACK');
    } catch {
      // Nothing was begun.
    }
  }

  close(): void {
    this.#statements.clear();
    this.sqlite.close();
  }
}

export interface OpenOptions {
  readonly readOnly?: boolean;
}

/**
 * The connections of all processes. Those of processes that have ended are lent again, for opening a database takes
 * longer than most of what is done with it.
 */
export class Connections {
  readonly #idle = new Map<string, Connection[]>();

  /** @returns a connection, and what gives it back. */
  open(path: string, options: OpenOptions): readonly [Connection, () => void] {
    const name = `${path}\n${options.readOnly ?? false}`;
    const idle = this.#idle.get(name) ?? [];
    this.#idle.set(name, idle);
    const connection = this.#reused(idle, path) ?? new Connection(path, options);
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
      host.effect(sql);
      this.#connection.sqlite.exec(sql);
    }

    prepare(sql: string): unknown {
      host.effect(`prepare ${sql}`);
      return new StatementSync(this.#connection.prepare(sql), sql, host);
    }

    close(): void {
      host.effect('close');
      this.#release();
    }
  };
}

class StatementSync {
  readonly #native: Statement;
  readonly #sql: string;
  readonly #host: StorageHost;

  constructor(native: Statement, sql: string, host: StorageHost) {
    this.#native = native;
    this.#sql = sql;
    this.#host = host;
  }

  get(...values: Value[]): unknown {
    this.#host.effect(this.#sql);
    return this.#native.get(...values);
  }

  all(...values: Value[]): unknown {
    this.#host.effect(this.#sql);
    return this.#native.all(...values);
  }

  run(...values: Value[]): unknown {
    this.#host.effect(this.#sql);
    return this.#native.run(...values);
  }
}
