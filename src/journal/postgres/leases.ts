import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../platform/clock.ts';
import type { StoredRow } from '../../platform/sqlite/database.ts';
import { isAlive, type LeaseBook, leasePrefix, self } from '../owner.ts';
import { newId } from './connect.ts';

/** A lease outlives what it is for by so much, ms. */
export const leaseMarginMs = 30_000;
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
export class Leases implements LeaseBook {
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
