import { join } from 'node:path';
import { openReader } from '../platform/sqlite/load.ts';
import { journalFile } from './journal-tables.ts';
import { uploadsFile } from './uploads-file.ts';

/** A journal record as read for a quick look. Times are ISO 8601. */
export interface PeekedIntent {
  readonly key: string;
  readonly state: string;
  readonly operation: string;
  readonly orderId: string | undefined;
  readonly createdAt: string;
}

/** The newest journal records of a service, read-only. @param limit -1 for all. @throws if there is no journal. */
export function peekJournal(folder: string, baseUrl: string, limit: number): readonly PeekedIntent[] {
  const rows = read(
    journalFile(folder),
    'SELECT key, state, operation, order_id, created_at FROM intents WHERE base_url = ? ORDER BY created_at DESC LIMIT ?',
    [baseUrl, limit],
  );
  return rows.map(({ key, state, operation, order_id, created_at }) => ({
    key: String(key),
    state: String(state),
    operation: String(operation),
    orderId: order_id === null ? undefined : String(order_id),
    createdAt: String(created_at),
  }));
}

/** The newest webhook events received, read-only. @throws if there is no store. */
export function peekEvents(folder: string, limit: number): readonly { id: string; text: string }[] {
  const sql = `SELECT id, coalesce(event, 'event') || '  ' || coalesce(order_id, '') AS text FROM events ORDER BY id DESC LIMIT ?`;
  return read(join(folder, 'webhooks.db'), sql, [limit]).map(({ id, text }) => ({
    id: String(id),
    text: String(text),
  }));
}

/** The newest approvals that can still be decided or used, read-only. @throws if there is no journal. */
export function peekApprovals(folder: string, limit: number): readonly { id: string; text: string }[] {
  const sql = `SELECT id, state || ', asked ' || substr(asked_at, 1, 16) || 'Z' AS text FROM approvals
    WHERE state <> 'denied' ORDER BY asked_at DESC LIMIT ?`;
  return read(journalFile(folder), sql, [limit]).map(({ id, text }) => ({
    id: String(id),
    text: String(text),
  }));
}

/** The newest uploads to a service, by name, read-only. @throws if there is no store. */
export function peekUploads(
  folder: string,
  baseUrl: string,
  limit: number,
): readonly { id: string; text: string }[] {
  const sql = `SELECT name AS id, rows || ' rows of ' || file AS text FROM uploads
    WHERE base_url = ? ORDER BY created_at DESC LIMIT ?`;
  return read(uploadsFile(folder), sql, [baseUrl, limit]).map(({ id, text }) => ({
    id: String(id),
    text: String(text),
  }));
}

function read(file: string, sql: string, values: readonly (string | number)[]): Record<string, unknown>[] {
  const database = openReader(file);
  try {
    return database
      .prepare(sql)
      .all(...values)
      .map((row: object) => ({ ...row }));
  } finally {
    database.close();
  }
}
