import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { EventLog } from './events.ts';
import { isAlive, self } from './owner.ts';

const migrations = [
  `CREATE TABLE events (
     id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, event TEXT, order_id TEXT, status TEXT,
     error_type TEXT, profile TEXT NOT NULL, base_url TEXT NOT NULL, headers TEXT NOT NULL, body TEXT NOT NULL,
     received_at TEXT NOT NULL, last_received_at TEXT NOT NULL, deliveries INTEGER NOT NULL,
     forward TEXT, exec TEXT, failed INTEGER NOT NULL DEFAULT 0) STRICT;
   CREATE INDEX events_order ON events (order_id, id);
   CREATE INDEX events_failed ON events (id) WHERE failed = 1;
   CREATE INDEX events_received ON events (received_at);
   CREATE TABLE registrations (
     id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, url TEXT NOT NULL, registered_at TEXT NOT NULL,
     pid INTEGER, process_started TEXT) STRICT;
   CREATE INDEX registrations_scope ON registrations (scope, id);`,
  // The listener that is to show an event; none once it has, or where nobody wants to see it.
  `ALTER TABLE events ADD COLUMN showing_pid INTEGER;
   ALTER TABLE events ADD COLUMN showing_started TEXT;
   CREATE INDEX events_showing ON events (id) WHERE showing_pid IS NOT NULL;`,
  `CREATE TABLE listeners (
     id INTEGER PRIMARY KEY AUTOINCREMENT, base_url TEXT NOT NULL, pid INTEGER NOT NULL, process_started TEXT NOT NULL) STRICT;`,
  `ALTER TABLE listeners ADD COLUMN url TEXT NOT NULL DEFAULT '';`,
];

/** What errand keeps of webhooks: events received, addresses registered, and who listens. */
export interface WebhookStore {
  readonly events: EventLog;
  readonly registrations: Registrations;
  readonly listeners: Listeners;
  close(): void;
}

const webhookFile = (folder: string): string => join(folder, 'webhooks.db');

/** Whether anything of webhooks was ever kept in a state folder. */
export const webhooksExist = (folder: string): boolean => existsSync(webhookFile(folder));

/** @param now ms since the epoch. @throws StorageError where it cannot be kept; then no event may be accepted. */
export async function openWebhookStore(
  folder: string,
  now: () => number,
  options?: OpenOptions,
): Promise<WebhookStore> {
  const database = await openStateDatabase(webhookFile(folder), migrations, options);
  return {
    events: new EventLog(database, now),
    registrations: new Registrations(database, now),
    listeners: new Listeners(database),
    close: () => database.close(),
  };
}

/** The processes that receive events at this moment. One that was killed is no listener any more. */
class Listeners {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** This process receives events of a service at an address. @returns what to end it by. */
  begin(baseUrl: string, url: string): Promise<number> {
    const { pid, started } = self();
    return this.#database.transaction(() => {
      this.#database.run(
        'INSERT INTO listeners (base_url, url, pid, process_started) VALUES (?, ?, ?, ?)',
        baseUrl,
        url,
        pid,
        started,
      );
      return Number(this.#database.all('SELECT max(id) AS id FROM listeners')[0]?.id);
    });
  }

  end(id: number): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('DELETE FROM listeners WHERE id = ?', id);
    });
  }

  /** Where processes receive events of a service; empty for one whose address an older errand did not note. */
  addresses(baseUrl: string): Promise<string[]> {
    return this.#database.transaction(() => {
      const rows = this.#database.all(
        'SELECT id, url, pid, process_started FROM listeners WHERE base_url = ?',
        baseUrl,
      );
      const alive = rows.filter(({ pid, process_started: started }) =>
        isAlive({ pid: Number(pid), started: String(started) }),
      );
      for (const { id } of rows.filter((row) => !alive.includes(row)))
        this.#database.run('DELETE FROM listeners WHERE id = ?', Number(id));
      return alive.map(({ url }) => String(url));
    });
  }
}

/**
 * The webhook addresses that errand has registered, since the service has no way to ask for the one that stands.
 * A stack for each scope (a service, a profile, test or live): listeners come and go on top of what was set to stay.
 */
class Registrations {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** An address that stays until another takes its place. */
  stand(scope: string, url: string): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('DELETE FROM registrations WHERE scope = ? AND pid IS NULL', scope);
      this.#push(scope, url, null, null);
    });
  }

  /** A listener's address, for as long as this process lives. @returns what to end it by. */
  begin(scope: string, url: string): Promise<number> {
    const { pid, started } = self();
    return this.#database.transaction(() => this.#push(scope, url, pid, started));
  }

  /**
   * Ends a listener's address.
   * @returns whether the service still has it, as far as is known, and the address to put back in its place:
   * the latest one set to stay or of a listener that lives.
   */
  end(
    scope: string,
    id: number,
  ): Promise<{ readonly stands: boolean; readonly earlier: string | undefined }> {
    return this.#database.transaction(() => {
      const rows = this.#database.all('SELECT * FROM registrations WHERE scope = ? ORDER BY id DESC', scope);
      const living = rows.filter(isStanding);
      for (const row of rows.filter((row) => row.id === id || !living.includes(row)))
        this.#database.run('DELETE FROM registrations WHERE id = ?', Number(row.id));
      const earlier = living.find((row) => row.id !== id)?.url;
      return {
        stands: living[0]?.id === id,
        earlier: earlier === undefined ? undefined : String(earlier),
      };
    });
  }

  /** The address that stands, as far as is known: the latest that was set to stay, or of a listener that lives. */
  standing(scope: string): string | undefined {
    const rows = this.#database.all('SELECT * FROM registrations WHERE scope = ? ORDER BY id DESC', scope);
    const url = rows.find(isStanding)?.url;
    return url === undefined ? undefined : String(url);
  }

  #push(scope: string, url: string, pid: number | null, started: string | null): number {
    this.#database.run(
      'INSERT INTO registrations (scope, url, registered_at, pid, process_started) VALUES (?, ?, ?, ?, ?)',
      scope,
      url,
      new Date(this.#now()).toISOString(),
      pid,
      started,
    );
    return Number(
      this.#database.all('SELECT max(id) AS id FROM registrations WHERE scope = ?', scope)[0]?.id,
    );
  }
}

const isStanding = ({ pid, process_started: started }: StoredRow): boolean =>
  pid === null || isAlive({ pid: Number(pid), started: String(started) });
