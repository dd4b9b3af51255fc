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
  // The listener that must show an event. Null if the event was shown, or if no listener has to show it.
  `ALTER TABLE events ADD COLUMN showing_pid INTEGER;
   ALTER TABLE events ADD COLUMN showing_started TEXT;
   CREATE INDEX events_showing ON events (id) WHERE showing_pid IS NOT NULL;`,
  `CREATE TABLE listeners (
     id INTEGER PRIMARY KEY AUTOINCREMENT, base_url TEXT NOT NULL, pid INTEGER NOT NULL, process_started TEXT NOT NULL) STRICT;`,
  `ALTER TABLE listeners ADD COLUMN url TEXT NOT NULL DEFAULT '';`,
  `CREATE TABLE signing_secrets (scope TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT;`,
];

/** Webhook state: received events, registered addresses, and active listeners. */
export interface WebhookStore {
  readonly events: EventLog;
  readonly registrations: Registrations;
  readonly listeners: Listeners;
  close(): void;
}

const webhookFile = (folder: string): string => join(folder, 'webhooks.db');

/** Whether a state folder has a webhook store. */
export const webhooksExist = (folder: string): boolean => existsSync(webhookFile(folder));

/**
 * @param now returns ms since the epoch.
 * @throws StorageError if the store is not writable; no event may be accepted then.
 */
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

/** Processes that receive events now. Killed processes are dropped. */
class Listeners {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Registers this process as a listener for a service at an address. @returns the id that ends the registration. */
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

  /**
   * Addresses at which live processes receive the events of a service. An empty string stands for a listener that an
   * older errand started.
   */
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
 * Webhook addresses that errand has registered. They are stored because the service cannot report its current address.
 * Each scope (service, profile, test or live) has a stack that contains the permanent address and the addresses of
 * listeners, which come and go.
 */
class Registrations {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Sets the permanent address, replacing the previous one. */
  setPermanent(scope: string, url: string): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('DELETE FROM registrations WHERE scope = ? AND pid IS NULL', scope);
      this.#push(scope, url, null, null);
    });
  }

  /**
   * Adds the address of a listener. It is valid as long as this process lives.
   * @returns the id with which to remove the address.
   */
  begin(scope: string, url: string): Promise<number> {
    const { pid, started } = self();
    return this.#database.transaction(() => this.#push(scope, url, pid, started));
  }

  /**
   * Removes a listener's address.
   * @returns whether the service presumably still has this address, and which address to restore. That is the latest
   * address that is permanent or belongs to a live listener.
   */
  end(
    scope: string,
    id: number,
  ): Promise<{ readonly isCurrent: boolean; readonly earlier: string | undefined }> {
    return this.#database.transaction(() => {
      const rows = this.#database.all('SELECT * FROM registrations WHERE scope = ? ORDER BY id DESC', scope);
      const living = rows.filter(isActive);
      for (const row of rows.filter((row) => row.id === id || !living.includes(row)))
        this.#database.run('DELETE FROM registrations WHERE id = ?', Number(row.id));
      const earlier = living.find((row) => row.id !== id)?.url;
      return {
        isCurrent: living[0]?.id === id,
        earlier: earlier === undefined ? undefined : String(earlier),
      };
    });
  }

  /** The address that the service presumably has: the latest one that is permanent or belongs to a live listener. */
  current(scope: string): string | undefined {
    const rows = this.#database.all('SELECT * FROM registrations WHERE scope = ? ORDER BY id DESC', scope);
    const url = rows.find(isActive)?.url;
    return url === undefined ? undefined : String(url);
  }

  /**
   * Stores the secret with which the service signs the events of a scope. The service sends it in the response to a
   * registration.
   */
  saveSecret(scope: string, secret: string): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run(
        'INSERT INTO signing_secrets (scope, secret) VALUES (?, ?) ON CONFLICT (scope) DO UPDATE SET secret = excluded.secret',
        scope,
        secret,
      );
    });
  }

  /** Secret with which the service signs the events of a scope; undefined if the service never sent one. */
  secret(scope: string): string | undefined {
    const [row] = this.#database.all('SELECT secret FROM signing_secrets WHERE scope = ?', scope);
    return row === undefined ? undefined : String(row.secret);
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

const isActive = ({ pid, process_started: started }: StoredRow): boolean =>
  pid === null || isAlive({ pid: Number(pid), started: String(started) });
