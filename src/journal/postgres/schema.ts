import { isSweepable } from '../attempts.ts';
import type { Connection } from './connect.ts';
import { brokenChainCode } from './copy.ts';

/** Advisory lock for creating or changing the schema. Every version of errand must use the same number. */
const schemaLock = 7_264_911_063;

/**
 * Migrations of schema `errand`, in order. Each runs once. `seq` numbers the changes to a group of tables; each row has
 * the number of its last change. A reader that knows all changes up to a number requests the changes after that number.
 */
const migrations: readonly string[] = [
  `CREATE TABLE errand.schema (version integer NOT NULL);
   INSERT INTO errand.schema VALUES (0);
   CREATE TABLE errand.heads (
     name text PRIMARY KEY, id uuid NOT NULL DEFAULT gen_random_uuid(), seq bigint NOT NULL DEFAULT 0,
     purged bigint NOT NULL DEFAULT 0);
   INSERT INTO errand.heads (name) VALUES ('journal'), ('uploads');
   CREATE TABLE errand.removed (
     head text NOT NULL, name text NOT NULL, key text NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(),
     PRIMARY KEY (head, name, key));
   CREATE TABLE errand.intents (
     key text NOT NULL, base_url text NOT NULL, state text NOT NULL, operation text NOT NULL, profile text NOT NULL,
     sent_with text NOT NULL, account text NOT NULL, key_origin text NOT NULL, body_hash text NOT NULL, order_id text,
     code text, message text, pid bigint NOT NULL, process_started text NOT NULL, created_at text NOT NULL, settled_at text,
     payment text, credential text, live bigint NOT NULL, twin bigint NOT NULL, checksum text NOT NULL, body text NOT NULL,
     seq bigint NOT NULL, PRIMARY KEY (key, base_url));
   CREATE TABLE errand.tally (
     id bigint PRIMARY KEY, count bigint NOT NULL, rows text NOT NULL, live text NOT NULL, twins text NOT NULL,
     checksum text NOT NULL, seq bigint NOT NULL);
   CREATE TABLE errand.audit (
     number bigint PRIMARY KEY, time text NOT NULL, kind text NOT NULL, actor text NOT NULL, job text, command text NOT NULL,
     profile text, service text, key text, order_id text, amount_cents bigint, currency text, detail text NOT NULL,
     previous text NOT NULL, hash text NOT NULL, seq bigint NOT NULL);
   CREATE FUNCTION errand.refuse_change() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'records are only appended'; END $$;
   CREATE TRIGGER audit_keeps BEFORE UPDATE OR DELETE OR TRUNCATE ON errand.audit
     FOR EACH STATEMENT EXECUTE FUNCTION errand.refuse_change();
   CREATE FUNCTION errand.refuse_gap() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN
       IF EXISTS (SELECT 1 FROM added LEFT JOIN errand.audit AS earlier ON earlier.number = added.number - 1
           WHERE added.number > 1 AND added.previous IS DISTINCT FROM earlier.hash)
       THEN RAISE EXCEPTION 'a record does not follow from the one before it' USING ERRCODE = '${brokenChainCode}'; END IF;
       RETURN NULL;
     END $$;
   CREATE TRIGGER audit_follows AFTER INSERT ON errand.audit REFERENCING NEW TABLE AS added
     FOR EACH STATEMENT EXECUTE FUNCTION errand.refuse_gap();
   CREATE TABLE errand.reservations (
     key text NOT NULL, base_url text NOT NULL, account text NOT NULL, state text NOT NULL, at bigint NOT NULL,
     cents bigint NOT NULL, fee bigint NOT NULL, counted bigint NOT NULL, rehearsal bigint NOT NULL, order_id text,
     pid bigint NOT NULL, process_started text NOT NULL, override text, intents text NOT NULL, facts text NOT NULL,
     approval text, checksum text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (key, base_url, account));
   CREATE TABLE errand.approvals (
     id text PRIMARY KEY, terms text NOT NULL, asked_at text NOT NULL, state text NOT NULL, decided_at text, decided_by text,
     signature text, request text NOT NULL, checksum text NOT NULL, seq bigint NOT NULL);
   CREATE TABLE errand.facts (name text PRIMARY KEY, value text NOT NULL, seq bigint NOT NULL);
   CREATE TABLE errand.quotes (
     id text PRIMARY KEY, key text, until bigint, used text, made text, quote text, checksum text, seq bigint NOT NULL);
   CREATE TABLE errand.grants (
     order_id text NOT NULL, base_url text NOT NULL, api_key text, receipt text, created_at text NOT NULL,
     seq bigint NOT NULL, PRIMARY KEY (order_id, base_url));
   CREATE TABLE errand.leases (
     id text PRIMARY KEY, host text NOT NULL, pid bigint NOT NULL, until bigint NOT NULL, turn text NOT NULL,
     seq bigint NOT NULL);
   CREATE TABLE errand.layouts (
     key text PRIMARY KEY, headings text NOT NULL, numbers text NOT NULL, written_at text NOT NULL, file_headings text,
     seq bigint NOT NULL);
   CREATE TABLE errand.uploads (
     serial bigint PRIMARY KEY, base_url text NOT NULL, account text NOT NULL, name text NOT NULL, identity text NOT NULL,
     file text NOT NULL, rows bigint NOT NULL, source text NOT NULL, created_at text NOT NULL, written_at text NOT NULL,
     seq bigint NOT NULL);
   CREATE TABLE errand.upload_batches (
     serial bigint NOT NULL, place bigint NOT NULL, key text NOT NULL, id text, seq bigint NOT NULL,
     PRIMARY KEY (serial, key));
   ${[
     ...['intents', 'audit', 'reservations', 'approvals', 'facts', 'quotes', 'grants', 'leases'],
     ...['removed', 'layouts', 'uploads', 'upload_batches'],
   ]
     .map((table) => `CREATE INDEX ${table}_seq ON errand.${table} (seq);`)
     .join('\n')}`,
  // The upload queue that workers share, and its rate budget. Machines keep no copy of these tables.
  `CREATE TABLE errand.workers (id text PRIMARY KEY, host text NOT NULL, campaign bigint, until timestamptz NOT NULL);
   CREATE TABLE errand.campaigns (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, base_url text NOT NULL, account text NOT NULL, name text NOT NULL,
     sent_with text NOT NULL, terms json NOT NULL, facts json NOT NULL, state text NOT NULL, reader text,
     created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (base_url, account, name));
   CREATE TABLE errand.campaign_chunks (
     campaign bigint NOT NULL REFERENCES errand.campaigns ON DELETE CASCADE, kind text NOT NULL, place bigint NOT NULL,
     count bigint NOT NULL, body json NOT NULL, worker text, not_before timestamptz, result json,
     PRIMARY KEY (campaign, kind, place));
   CREATE TABLE errand.request_budgets (
     base_url text NOT NULL, account text NOT NULL, rate double precision NOT NULL, most double precision NOT NULL,
     base double precision NOT NULL, next_at timestamptz NOT NULL, grown_at timestamptz NOT NULL, cut_at timestamptz NOT NULL,
     recent double precision[] NOT NULL, PRIMARY KEY (base_url, account));`,
  // Attempts of all needs. There are too many attempts for each machine to keep a copy.
  `CREATE TABLE errand.attempt_accounts (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, service text NOT NULL, account text NOT NULL,
     test bigint NOT NULL, UNIQUE (service, account, test));
   CREATE TABLE errand.attempts (
     serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL, whole bigint NOT NULL,
     namespace text, reference text, run text, number bigint NOT NULL, key text NOT NULL, operation text NOT NULL,
     upload text, order_id text, state text NOT NULL, made_at bigint NOT NULL, seen_at bigint);
   CREATE INDEX attempts_whole ON errand.attempts (whole);
   CREATE INDEX attempts_reference ON errand.attempts (reference) WHERE reference IS NOT NULL;
   CREATE INDEX attempts_key ON errand.attempts (key) WHERE upload IS NULL;
   CREATE INDEX attempts_upload ON errand.attempts (upload) WHERE upload IS NOT NULL;
   CREATE INDEX attempts_ended ON errand.attempts (made_at) WHERE ${isSweepable};
   CREATE TABLE errand.attempt_parts (
     part bigint NOT NULL, attempt bigint NOT NULL, PRIMARY KEY (part, attempt));
   CREATE TABLE errand.attempt_settings (id bigint PRIMARY KEY, secret text NOT NULL, imported bigint NOT NULL);
   INSERT INTO errand.attempt_settings VALUES (1, replace(gen_random_uuid()::text, '-', ''), 0);`,
  'ALTER TABLE errand.attempt_accounts ADD COLUMN user_id text;',
  // The rows of uploaded files.
  `CREATE TABLE errand.row_blocks (hash text PRIMARY KEY, rows text NOT NULL, seq bigint NOT NULL);
   CREATE TABLE errand.upload_rows (
     serial bigint NOT NULL, place bigint NOT NULL, hash text NOT NULL, left_out text NOT NULL, seq bigint NOT NULL,
     PRIMARY KEY (serial, place));
   CREATE INDEX row_blocks_seq ON errand.row_blocks (seq);
   CREATE INDEX upload_rows_seq ON errand.upload_rows (seq);`,
];

/** The schema version this program reads and writes. */
export const schemaVersion = migrations.length;

/**
 * Creates or upgrades the schema; safe for concurrent callers.
 * @throws StorageError.
 */
export async function migrate(connection: Connection): Promise<void> {
  await connection.ask(`BEGIN; SELECT pg_advisory_xact_lock(${schemaLock})`);
  try {
    const [there] = await connection.ask(
      "SELECT to_regnamespace('errand') IS NULL AS is_new, to_regclass('errand.schema') IS NOT NULL AS is_made",
    );
    // Create the schema only if it is missing, because the role may lack the right to create schemas.
    if (there?.is_new === true) await connection.ask('CREATE SCHEMA errand');
    const [row] = there?.is_made === true ? await connection.ask('SELECT version FROM errand.schema') : [];
    const steps = migrations.slice(Number(row?.version ?? 0));
    // Does nothing if the schema is newer. The next read rejects a newer schema.
    if (steps.length > 0)
      await connection.ask([...steps, `UPDATE errand.schema SET version = ${schemaVersion}`].join(';\n'));
    await connection.ask('COMMIT');
  } catch (error) {
    await connection.ask('ROLLBACK').catch(() => {});
    throw error;
  }
}
