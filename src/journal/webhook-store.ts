import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { EventLog } from './events.ts';
import { Listeners } from './listeners.ts';
import { Registrations } from './registrations.ts';

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
