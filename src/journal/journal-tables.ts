import { join } from 'node:path';
import { copyFolder, type DatabaseAddress } from '../format/database-address.ts';
import { mayBeThere } from '../platform/private-files.ts';
import type { Migration } from '../platform/sqlite/database.ts';
import { openDatabase } from '../platform/sqlite/open.ts';
import { createApprovals } from './approval-row.ts';
import { createAttempts, LocalAttempts } from './attempt-table.ts';
import type { Attempts } from './attempts.ts';
import { createAudit } from './audit-record.ts';
import { contentHash } from './content.ts';
import { type IntentRow, intentColumns, withChecksum } from './intent-row.ts';
import { IntentTable } from './intents.ts';
import { createFacts } from './journal-facts.ts';
import { maskedAccount, paidAccount } from './journal-record.ts';
import { createQuotes } from './quotes.ts';
import { createReservations } from './reservation-row.ts';

/** Path of the journal file in the state folder. */
export const journalFile = (folder: string): string => join(folder, 'journal.db');

/** Where the journal lives: in a state folder, or in a database shared between machines. */
export interface JournalPlace {
  readonly folders: { readonly state: string };
  readonly database?: DatabaseAddress | undefined;
}

/** Whether a journal may exist. */
export const journalExists = ({ folders, database }: JournalPlace): boolean =>
  database !== undefined || mayBeThere(journalFile(folders.state));

/** Folder of the journal file, or of this machine's copy of a shared journal. */
export const journalFolder = ({ folders, database }: JournalPlace): string =>
  database ? copyFolder(folders.state, database) : folders.state;

export const createIntents = [
  `CREATE TABLE intents (
     key TEXT NOT NULL, base_url TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, profile TEXT NOT NULL,
     sent_with TEXT NOT NULL, account TEXT NOT NULL, key_origin TEXT NOT NULL, body_hash TEXT NOT NULL, order_id TEXT,
     code TEXT, message TEXT, pid INTEGER NOT NULL, process_started TEXT NOT NULL, created_at TEXT NOT NULL,
     settled_at TEXT, payment TEXT, credential TEXT, live INTEGER NOT NULL, twin INTEGER NOT NULL,
     checksum TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (key, base_url)) STRICT`,
  'CREATE INDEX intents_live ON intents (twin, live) WHERE live > 0',
  'CREATE INDEX intents_past ON intents (settled_at) WHERE live = 0',
  'CREATE INDEX intents_made ON intents (order_id) WHERE order_id IS NOT NULL',
];

/** Migrations of the journal file, in order; each runs once. */
export const journalMigrations: readonly Migration[] = [
  `CREATE TABLE intents (
     key TEXT NOT NULL, base_url TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, profile TEXT NOT NULL,
     sent_with TEXT NOT NULL, body_hash TEXT NOT NULL, body TEXT NOT NULL, order_id TEXT, code TEXT, message TEXT,
     pid INTEGER NOT NULL, process_started TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT,
     PRIMARY KEY (key, base_url)) STRICT;
   CREATE INDEX intents_open ON intents (created_at) WHERE state = 'open';
   CREATE INDEX intents_twin ON intents (body_hash, base_url) WHERE state = 'open';
   CREATE INDEX intents_settled ON intents (settled_at) WHERE settled_at IS NOT NULL`,
  // The payment credential is stored until the intent ends. The key and receipt of a paid order are stored under the
  // order's id.
  `ALTER TABLE intents ADD COLUMN payment TEXT;
   ALTER TABLE intents ADD COLUMN credential TEXT;
   CREATE TABLE grants (
     order_id TEXT NOT NULL, base_url TEXT NOT NULL, api_key TEXT, receipt TEXT, created_at TEXT NOT NULL,
     PRIMARY KEY (order_id, base_url)) STRICT`,
  // A record stays open until the user has seen the outcome. Each record carries a checksum of its own.
  (database) => {
    const rows = database.all('SELECT * FROM intents').map(upgraded);
    database.run('DROP TABLE intents');
    for (const sql of createIntents) database.run(sql);
    database.run(
      `CREATE TABLE tally (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, rows TEXT NOT NULL,
         live TEXT NOT NULL, twins TEXT NOT NULL, checksum TEXT NOT NULL) STRICT`,
    );
    const table = new IntentTable(database);
    table.tally.renew(0, []);
    for (const row of rows) table.write(row, undefined);
  },
  createAudit,
  createReservations,
  createApprovals,
  createFacts,
  createQuotes,
  createAttempts,
  'ALTER TABLE attempt_accounts ADD COLUMN user_id TEXT',
];

/** Indexes of the journal file that no migration creates. Earlier versions work without these indexes. */
export const journalIndexes = { intents_newest: 'intents (base_url, operation, created_at)' };

/** Attempts that exist only while the process runs. Used by a command that may create no journal. */
export const attemptsInMemory = async (): Promise<Attempts> =>
  new LocalAttempts(await openDatabase(':memory:', { migrations: journalMigrations }));

const states: Readonly<Record<string, string>> = { open: 'intended', settled: 'reported' };

/** Upgrades a row that an earlier version wrote. Such a row identifies the account only by the masked key. */
export function upgraded(old: Readonly<Record<string, unknown>>): IntentRow {
  const { state, body, sent_with: sentWith, payment, operation } = old;
  const known = Object.fromEntries(intentColumns.map((name) => [name, old[name] ?? null]));
  return withChecksum({
    // `intentColumns` includes every column of the old table.
    ...(known as unknown as IntentRow),
    state: states[String(state)] ?? String(state),
    account: payment === null ? maskedAccount(String(sentWith)) : paidAccount,
    key_origin: 'made',
    body_hash: contentHash(String(operation), JSON.parse(String(body))),
    live: state === 'open' ? 2 : 0,
  });
}
