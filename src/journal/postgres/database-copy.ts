import { dirname } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { StorageError } from '../../platform/errors.ts';
import { Database, type DatabaseOptions, type StoredRow } from '../../platform/sqlite/database.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import { hashOf, recordOfRow } from '../audit-record.ts';
import { applyPulled, copyState, type Pulled, watchSql } from './copy.ts';
import { Leases } from './leases.ts';
import type { ChainEnd } from './mirror-sql.ts';
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
