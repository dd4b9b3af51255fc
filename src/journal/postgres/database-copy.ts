import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { StorageError } from '../../platform/errors.ts';
import { Database, type DatabaseOptions, type StoredRow } from '../../platform/sqlite/database.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import { hashOf, recordOfRow } from '../audit-record.ts';
import { isAlive, type LeaseRegistry, leasePrefix, self } from '../owner.ts';
import { newId } from './connect.ts';
import type { ChainEnd } from './copy.ts';
import { applyPulled, copyState, type Pulled, watchSql } from './copy.ts';
import type { Remote } from './remote.ts';
import type { Mirror } from './tables.ts';

export interface SharedOptions extends DatabaseOptions {
  readonly remote: Remote;
  readonly mirror: Mirror;
  readonly clock: Clock;
  /** Maximum duration of a request, in ms. */
  readonly maxRequestMs?: number;
}

/** A machine's local SQLite cache of a shared database. The cache may be lost at any time. */
export class DatabaseCopy extends Database {
  readonly leases: Leases;
  protected readonly options: SharedOptions;
  /** When the last pull took place, in ms of the monotonic clock. */
  protected pulledAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, sqlite: Sqlite, options: SharedOptions, unwritable?: unknown) {
    super(file, sqlite, options, unwritable);
    this.options = options;
    this.leases = new Leases(this, options.clock);
  }

  /** Rebuilds a copy of another schema version from scratch. No data is lost, because the database holds all of it. */
  override prepare(): void {
    this.configure();
    this.execute('PRAGMA synchronous = NORMAL');
    if (this.version() !== this.options.migrations.length || !this.#hasAllTables())
      this.attempt(() => this.#recreateTables());
    this.index();
    this.execute(watchSql(this.options.mirror));
    this.attempt(() => this.leases.noteOwn());
  }

  protected seq = (): number => copyState(this).seq;

  /** End of the copy's audit chain; undefined if the chain is empty. */
  protected chainEnd(): ChainEnd | undefined {
    const row = this.#lastRecord();
    return row && { number: Number(row.number), hash: String(row.hash) };
  }

  #lastRecord(): StoredRow | undefined {
    if (this.options.mirror.name !== 'journal') return undefined;
    return this.get('SELECT * FROM audit ORDER BY number DESC LIMIT 1');
  }

  #hasAllTables(): boolean {
    const names = this.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name);
    return ['own_processes', ...this.options.mirror.tables.map(({ name }) => name)].every((name) =>
      names.includes(name),
    );
  }

  /** Applies a pull to the copy. @throws StorageError if the copy holds data the database lacks. */
  protected async apply(pulled: Pulled): Promise<Pulled> {
    const { head } = pulled;
    this.leases.noteTime(head.time);
    this.pulledAt = this.options.clock.monotonic();
    const { of, seq } = copyState(this);
    if (of !== '' && of !== head.id) throw this.#wentBack('was made anew');
    // Another process has advanced the copy since this pull was requested.
    if (seq > head.seq && seq > pulled.since) return pulled;
    if (seq > head.seq) throw this.#wentBack('was brought back to an earlier state');
    if (!head.follows) return this.#unlike();
    if (seq < head.purged) return this.reload();
    if (of !== head.id || seq !== head.seq)
      await super.transaction(() => {
        // Meanwhile, another process may have advanced the copy from the same sequence number.
        if (this.seq() >= pulled.since && this.seq() <= head.seq)
          applyPulled(this, this.options.mirror, pulled);
      });
    return pulled;
  }

  /** Handles a database whose audit chain does not contain the copy's last record. */
  #unlike(): Promise<Pulled> {
    const row = this.#lastRecord();
    if (row && hashOf(recordOfRow(row)) === row.hash)
      throw this.#wentBack('was brought back to an earlier state');
    return this.reload();
  }

  /** Replaces the copy with a full pull. */
  protected async reload(): Promise<Pulled> {
    const { mirror } = this.options;
    const pulled = await this.options.remote.pull(0);
    await super.transaction(() => {
      this.#recreateTables();
      applyPulled(this, mirror, pulled);
      this.execute(watchSql(mirror));
      this.leases.noteOwn();
    });
    return pulled;
  }

  /** Recreates all tables. Call within a transaction. */
  #recreateTables(): void {
    const found = this.all(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    for (const { name } of found) this.execute(`DROP TABLE "${String(name)}"`);
    this.execute('PRAGMA user_version = 0');
    this.migrate();
  }

  /**
   * The error for a database that was restored to an earlier state. Data that only this machine has must not be dropped
   * silently.
   */
  #wentBack(what: string): StorageError {
    return new StorageError(
      `the database ${this.options.remote.shown} ${what} since this machine last used it`,
      {
        code: 'database_went_back',
        hint: `Orders may be missing in it, so nothing is sent. Restore a newer backup; or, to go on with the database as it is, move ${dirname(this.file)} aside, which holds what this machine knows.`,
        next: [{ command: 'errand order list', when: 'to see what was ordered' }],
      },
    );
  }
}

/** Time, in ms, by which a lease lasts longer than the longest request. */
const leaseMarginMs = 30_000;
/** Default duration of the longest request that a lease must cover, in ms. */
const maxRequestMs = 120_000;
/**
 * Upper bound for the duration of the longest request, in ms. If a machine is lost, its records stay locked for that
 * long.
 */
const requestCapMs = 600_000;
/** Retention of expired leases, ms. */
const retentionMs = 24 * 3600 * 1000;

/** Identifies the pid namespace. Containers that share a state folder may each have pids of their own. */
function pidNamespace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** The part of the copy that leases need. */
interface Copy {
  get(sql: string, ...values: (string | number)[]): StoredRow | undefined;
  run(sql: string, ...values: (string | number)[]): unknown;
}

/** A point in time on both clocks. While a machine sleeps, its monotonic clock may stop, but its wall clock runs on. */
interface Moment {
  readonly monotonic: number;
  readonly now: number;
}

/**
 * This process's lease, and what is known about the leases of other processes. Estimates the database's time: the time
 * last read from the database, plus the time that this machine has been awake since. The estimate may be behind, by a
 * round trip and by any time asleep, but is never ahead.
 */
class Leases implements LeaseRegistry {
  readonly id = `${leasePrefix}${newId()}`;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #copy: Copy;
  #read: (Moment & { readonly time: number }) | undefined;
  #requestMs = maxRequestMs;
  #renewalStart: Moment | undefined;
  #renewed: Moment | undefined;

  constructor(copy: Copy, clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#copy = copy;
    this.#clock = clock;
  }

  /** Records the database's time as just read. @param time is in ms since the epoch. */
  noteTime(time: number): void {
    this.#read = { time, ...this.#moment() };
  }

  /** Registers this process as a user of the copy. Call within a transaction of the copy. */
  noteOwn(): void {
    const { pid, started } = self();
    const now = this.#clock.now();
    this.#copy.run('DELETE FROM own_processes WHERE at < ?', now - retentionMs);
    this.#copy.run(
      'INSERT OR REPLACE INTO own_processes (id, place, pid, started, at) VALUES (?, ?, ?, ?, ?)',
      ...[this.id, pidNamespace(), pid, started, now],
    );
  }

  /** Whether the lease's holder may still be running. The pid shows whether a process of this machine is dead. */
  isHeld(id: string): boolean {
    const sql = 'SELECT pid, started FROM own_processes WHERE id = ? AND place = ?';
    const own = this.#copy.get(sql, id, pidNamespace());
    if (own && !isAlive({ pid: Number(own.pid), started: String(own.started) })) return false;
    return (this.heldMs(id) ?? 0) > 0;
  }

  isOwn = (id: string): boolean => id === this.id;

  /** Host of the lease's holder, for messages; undefined if unknown. */
  hostOf(id: string): string | undefined {
    const host = this.#copy.get('SELECT host FROM leases WHERE id = ?', id)?.host;
    return typeof host === 'string' ? host : undefined;
  }

  /** Remaining time of a lease, in ms; undefined for an unknown lease. */
  heldMs(id: string): number | undefined {
    const until = this.#copy.get('SELECT until FROM leases WHERE id = ?', id)?.until;
    return until === undefined ? undefined : Number(until) - this.#time();
  }

  /** Sets how long requests may take from now on, in ms. */
  expectRequests(maxMs: number): void {
    this.#requestMs = Math.min(Math.max(maxMs * 1.25, maxRequestMs), requestCapMs);
  }

  /** How long this process may work on a record that is written now, in ms. */
  get requestMs(): number {
    return this.#requestMs;
  }

  /** Renews the lease, starting now. Call within a transaction. @param turn is a unique id of this transaction. */
  renew(turn: string): void {
    const time = this.#time();
    // Count time asleep too. Otherwise a machine that slept after reading the time would write a lease that has already
    // expired.
    const from = this.#read ? this.#read.time + this.#passedMs(this.#read) : time;
    const lasts = this.#requestMs + leaseMarginMs;
    this.#copy.run(
      'INSERT OR REPLACE INTO leases (id, host, pid, until, turn) VALUES (?, ?, ?, ?, ?)',
      ...[this.id, hostname(), process.pid, Math.round(from + lasts), turn],
    );
    this.#copy.run('DELETE FROM leases WHERE until < ?', Math.round(time - retentionMs));
    this.#renewalStart = this.#moment();
  }

  /** Confirms the last renewal once it is committed. The lease counts from the time when that renewal began. */
  confirm(): void {
    this.#renewed = this.#renewalStart;
  }

  /** How long this process may still work on its records, in ms of its own clocks. */
  leftMs(): number {
    return this.#renewed ? this.#requestMs - this.#passedMs(this.#renewed) : 0;
  }

  #moment = (): Moment => ({ monotonic: this.#clock.monotonic(), now: this.#clock.now() });

  /** Time that has passed since a moment, in ms, including sleep. */
  #passedMs({ monotonic, now }: Moment): number {
    return Math.max(this.#clock.monotonic() - monotonic, this.#clock.now() - now);
  }

  /** The database's time, in ms since the epoch. */
  #time(): number {
    if (!this.#read) return this.#clock.now();
    return this.#read.time + (this.#clock.monotonic() - this.#read.monotonic);
  }
}
