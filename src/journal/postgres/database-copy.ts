import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { StorageError } from '../../platform/errors.ts';
import { Database, type DatabaseOptions, type StoredRow } from '../../platform/sqlite/database.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import { hashOf, recordOfRow } from '../audit-record.ts';
import { isAlive, type LeaseBook, leasePrefix, self } from '../owner.ts';
import { newId } from './connect.ts';
import type { ChainEnd } from './copy.ts';
import { applyPulled, copyState, type Pulled, watchSql } from './copy.ts';
import type { Remote } from './remote.ts';
import type { Mirror } from './tables.ts';

export interface SharedOptions extends DatabaseOptions {
  readonly remote: Remote;
  readonly mirror: Mirror;
  readonly clock: Clock;
  /** The longest that a request may take, ms. */
  readonly longestRequestMs?: number;
}

/** The SQLite file in which a machine keeps what it has read of a shared database. It may be lost at any time. */
export class DatabaseCopy extends Database {
  readonly leases: Leases;
  protected readonly options: SharedOptions;
  /** When something was read last, by the monotonic clock, ms. */
  protected pulledAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, sqlite: Sqlite, options: SharedOptions, unwritable?: unknown) {
    super(file, sqlite, options, unwritable);
    this.options = options;
    this.leases = new Leases(this, options.clock);
  }

  /** A copy of another version is begun anew: what it holds is in the database. */
  override prepare(): void {
    this.configure();
    this.execute('PRAGMA synchronous = NORMAL');
    if (this.version() !== this.options.migrations.length || !this.#hasAllTables())
      this.attempt(() => this.#beginAnew());
    this.execute(watchSql(this.options.mirror));
    this.attempt(() => this.leases.noteOwn());
  }

  protected seq = (): number => copyState(this).seq;

  /** Where the copy's audit chain ends; undefined where it holds none. */
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

  /** The copy becomes what was read. @throws StorageError where it knows of what the database does not. */
  protected async apply(pulled: Pulled): Promise<Pulled> {
    const { head } = pulled;
    this.leases.noteTime(head.time);
    this.pulledAt = this.options.clock.monotonic();
    const { of, seq } = copyState(this);
    if (of !== '' && of !== head.id) throw this.#wentBack('was made anew');
    // Another process has brought the copy further since this was asked.
    if (seq > head.seq && seq > pulled.since) return pulled;
    if (seq > head.seq) throw this.#wentBack('was brought back to an earlier state');
    if (!head.follows) return this.#unlike();
    if (seq < head.purged) return this.readAnew();
    if (of !== head.id || seq !== head.seq)
      await super.transaction(() => {
        // Another process may have brought it further, from the same number on.
        if (this.seq() >= pulled.since && this.seq() <= head.seq)
          applyPulled(this, this.options.mirror, pulled);
      });
    return pulled;
  }

  /** The database has another record in the place of the copy's last one, or none. */
  #unlike(): Promise<Pulled> {
    const row = this.#lastRecord();
    if (row && hashOf(recordOfRow(row)) === row.hash)
      throw this.#wentBack('was brought back to an earlier state');
    return this.readAnew();
  }

  /** All of it, in the place of what the copy held. */
  protected async readAnew(): Promise<Pulled> {
    const { mirror } = this.options;
    const pulled = await this.options.remote.pull(0);
    await super.transaction(() => {
      this.#beginAnew();
      applyPulled(this, mirror, pulled);
      this.execute(watchSql(mirror));
      this.leases.noteOwn();
    });
    return pulled;
  }

  /** Within a transaction. */
  #beginAnew(): void {
    const found = this.all(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    for (const { name } of found) this.execute(`DROP TABLE "${String(name)}"`);
    this.execute('PRAGMA user_version = 0');
    this.migrate();
  }

  /** What this machine knows and the database does not is not lost silently. */
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

/** A lease outlives what it is for by so much, ms. */
const leaseMarginMs = 30_000;
/** The longest that a request may take for which a lease is taken, ms, where nothing says otherwise. */
const longestRequestMs = 120_000;
/** The longest that one may take at all, ms: the records of a machine that is lost are kept from others for as long. */
const mostRequestMs = 600_000;
/** How long a lease that has ended is kept, ms. */
const keptMs = 24 * 3600 * 1000;

/** Where a pid means this process: containers may share a state folder, and each has pids of its own. */
function placeOfPids(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** What the copy is asked about leases. */
interface Copy {
  get(sql: string, ...values: (string | number)[]): StoredRow | undefined;
  run(sql: string, ...values: (string | number)[]): unknown;
}

/** By both clocks: the monotonic one may stand still while a machine sleeps; the time of day does not. */
interface Moment {
  readonly monotonic: number;
  readonly now: number;
}

/**
 * The lease of this process, and what is known of others'. Its time is the database's: what was read of it last, and what
 * has passed here since, awake. It lags behind by a round trip, and by what a machine slept meanwhile; it is never ahead.
 */
class Leases implements LeaseBook {
  readonly id = `${leasePrefix}${newId()}`;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #copy: Copy;
  #read: (Moment & { readonly time: number }) | undefined;
  #requestMs = longestRequestMs;
  #begun: Moment | undefined;
  #renewed: Moment | undefined;

  constructor(copy: Copy, clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#copy = copy;
    this.#clock = clock;
  }

  /** The database's time was read. @param time ms since the epoch. */
  noteTime(time: number): void {
    this.#read = { time, ...this.#moment() };
  }

  /** Within a transaction of the copy: this process is one of those that work on it. */
  noteOwn(): void {
    const { pid, started } = self();
    const now = this.#clock.now();
    this.#copy.run('DELETE FROM own_processes WHERE at < ?', now - keptMs);
    this.#copy.run(
      'INSERT OR REPLACE INTO own_processes (id, place, pid, started, at) VALUES (?, ?, ?, ?, ?)',
      ...[this.id, placeOfPids(), pid, started, now],
    );
  }

  /** Whether a process that holds a lease may still be at work. One of this machine that is gone is not. */
  isHeld(id: string): boolean {
    const sql = 'SELECT pid, started FROM own_processes WHERE id = ? AND place = ?';
    const own = this.#copy.get(sql, id, placeOfPids());
    if (own && !isAlive({ pid: Number(own.pid), started: String(own.started) })) return false;
    return (this.heldMs(id) ?? 0) > 0;
  }

  isOwn = (id: string): boolean => id === this.id;

  /** Who holds a lease: `HOST`, for messages; undefined where nobody knows any more. */
  hostOf(id: string): string | undefined {
    const host = this.#copy.get('SELECT host FROM leases WHERE id = ?', id)?.host;
    return typeof host === 'string' ? host : undefined;
  }

  /** How long a lease still holds, ms; undefined where nobody knows of it. */
  heldMs(id: string): number | undefined {
    const until = this.#copy.get('SELECT until FROM leases WHERE id = ?', id)?.until;
    return until === undefined ? undefined : Number(until) - this.#time();
  }

  /** From now on requests may take so long, ms. */
  expectRequests(longestMs: number): void {
    this.#requestMs = Math.min(Math.max(longestMs * 1.25, longestRequestMs), mostRequestMs);
  }

  /** How long this process may work on what it records at this moment, ms. */
  get requestMs(): number {
    return this.#requestMs;
  }

  /** Within a transaction: the lease holds anew from now on. @param turn tells this transaction from all others. */
  renew(turn: string): void {
    const time = this.#time();
    // Asleep since the database's time was read, a machine would renew a lease that has ended.
    const from = this.#read ? this.#read.time + this.#passedMs(this.#read) : time;
    const lasts = this.#requestMs + leaseMarginMs;
    this.#copy.run(
      'INSERT OR REPLACE INTO leases (id, host, pid, until, turn) VALUES (?, ?, ?, ?, ?)',
      ...[this.id, hostname(), process.pid, Math.round(from + lasts), turn],
    );
    this.#copy.run('DELETE FROM leases WHERE until < ?', Math.round(time - keptMs));
    this.#begun = this.#moment();
  }

  /** What was renewed last is committed: it holds from when that was begun. */
  confirm(): void {
    this.#renewed = this.#begun;
  }

  /** How long this process may still work on what it has recorded, ms, by its own clocks. */
  leftMs(): number {
    return this.#renewed ? this.#requestMs - this.#passedMs(this.#renewed) : 0;
  }

  #moment = (): Moment => ({ monotonic: this.#clock.monotonic(), now: this.#clock.now() });

  /** How long ago a moment was, whether this machine slept meanwhile or not, ms. */
  #passedMs({ monotonic, now }: Moment): number {
    return Math.max(this.#clock.monotonic() - monotonic, this.#clock.now() - now);
  }

  /** The database's time, ms since the epoch. */
  #time(): number {
    if (!this.#read) return this.#clock.now();
    return this.#read.time + (this.#clock.monotonic() - this.#read.monotonic);
  }
}
