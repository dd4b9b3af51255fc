import { join } from 'node:path';

/** The journal's file in the state folder. */
export const journalFile = (folder: string): string => join(folder, 'journal.db');

/** Of that file, in order; each runs once. */
export const journalMigrations: readonly string[] = [
  `CREATE TABLE intents (
     key TEXT NOT NULL, base_url TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, profile TEXT NOT NULL,
     sent_with TEXT NOT NULL, body_hash TEXT NOT NULL, body TEXT NOT NULL, order_id TEXT, code TEXT, message TEXT,
     pid INTEGER NOT NULL, process_started TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT,
     PRIMARY KEY (key, base_url)) STRICT;
   CREATE INDEX intents_open ON intents (created_at) WHERE state = 'open';
   CREATE INDEX intents_twin ON intents (body_hash, base_url) WHERE state = 'open';
   CREATE INDEX intents_settled ON intents (settled_at) WHERE settled_at IS NOT NULL`,
  // What pays for an intent is kept until the intent ends; a paid order's own key and receipt stay with its id.
  `ALTER TABLE intents ADD COLUMN payment TEXT;
   ALTER TABLE intents ADD COLUMN credential TEXT;
   CREATE TABLE grants (
     order_id TEXT NOT NULL, base_url TEXT NOT NULL, api_key TEXT, receipt TEXT, created_at TEXT NOT NULL,
     PRIMARY KEY (order_id, base_url)) STRICT`,
];
