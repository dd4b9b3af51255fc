import { join } from 'node:path';
import type { Database } from '../platform/sqlite/database.ts';
import type { AttemptScope } from './attempts.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';

/** An order of the service, as the mirror stores it. */
export interface MirroredOrder {
  readonly id: string;
  /** The reference as it is written in the order's metadata. */
  readonly reference: string;
  /** When the service created the order, in ms since the epoch. */
  readonly madeAt: number;
}

const migrations = [
  `CREATE TABLE mirrors (
     id INTEGER PRIMARY KEY, service TEXT NOT NULL, account TEXT NOT NULL, test INTEGER NOT NULL, mark INTEGER,
     UNIQUE (service, account, test)) STRICT;
   CREATE TABLE mirrored_orders (
     mirror INTEGER NOT NULL, id TEXT NOT NULL, reference TEXT NOT NULL, made_at INTEGER NOT NULL,
     PRIMARY KEY (mirror, id)) STRICT, WITHOUT ROWID;
   CREATE INDEX mirrored_references ON mirrored_orders (mirror, reference)`,
];

/**
 * A copy of the service's list of orders that have a reference. The copy contains nothing that the service does not
 * have, so it may be lost at any time.
 */
export class OrderMirror {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws StorageError. */
  static async open(folder: string, options: OpenOptions = {}): Promise<OrderMirror> {
    return new OrderMirror(await openStateDatabase(join(folder, 'orders.db'), migrations, options));
  }

  /** Time up to which the list has been read, in ms since the epoch; undefined if the list was never read. */
  mark(scope: AttemptScope): number | undefined {
    const mark = this.#row(scope)?.mark;
    return typeof mark === 'number' ? mark : undefined;
  }

  /** Marks the list as read up to a time on the service's clock, in ms since the epoch. */
  setMark({ service, accounts: [account], isTest }: AttemptScope, mark: number): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run(
        `INSERT INTO mirrors (service, account, test, mark) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET mark = excluded.mark`,
        ...[service, account, isTest ? 1 : 0, mark],
      );
    });
  }

  /** Adds a page of the list. */
  add(scope: AttemptScope, orders: readonly MirroredOrder[]): Promise<void> {
    return this.#database.unsyncedTransaction(() => {
      const mirror = this.#mirror(scope);
      for (const { id, reference, madeAt } of orders)
        this.#database.run(
          'INSERT OR REPLACE INTO mirrored_orders (mirror, id, reference, made_at) VALUES (?, ?, ?, ?)',
          ...[mirror, id, reference, madeAt],
        );
    });
  }

  /** The orders that have one of these references. */
  having(scope: AttemptScope, references: readonly string[]): MirroredOrder[] {
    const mirror = this.#row(scope)?.id;
    if (mirror === undefined || mirror === null) return [];
    const rows = this.#database.all(
      `SELECT mirrored_orders.id, reference, made_at FROM json_each(?) AS requested
       CROSS JOIN mirrored_orders ON mirror = ? AND reference = requested.value ORDER BY made_at`,
      ...[JSON.stringify(references), Number(mirror)],
    );
    return rows.map(({ id, reference, made_at }) => ({
      ...{ id: String(id), reference: String(reference), madeAt: Number(made_at) },
    }));
  }

  close(): void | Promise<void> {
    return this.#database.close();
  }

  #row({ service, accounts: [account], isTest }: AttemptScope) {
    const sql = 'SELECT id, mark FROM mirrors WHERE service = ? AND account = ? AND test = ?';
    return this.#database.get(sql, service, account, isTest ? 1 : 0);
  }

  #mirror(scope: AttemptScope): number {
    const known = this.#row(scope);
    if (known) return Number(known.id);
    const { service, accounts, isTest } = scope;
    const sql = 'INSERT INTO mirrors (service, account, test, mark) VALUES (?, ?, ?, NULL)';
    return this.#database.run(sql, service, accounts[0], isTest ? 1 : 0).lastId;
  }
}
