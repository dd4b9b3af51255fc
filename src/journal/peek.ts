import { join } from 'node:path';
import { openReader } from '../platform/sqlite/load.ts';
import { journalFile } from './journal-tables.ts';
import { uploadsFile } from './uploads-file.ts';

/** A journal record as read for a quick look. Times are ISO 8601. */
export interface PeekedIntent {
  readonly id: string;
  readonly createdAt: string;
}

/** Selects the ids of what was made from journal records. */
interface Peeked {
  /** Operations whose results are selected. */
  readonly operations: readonly string[];
  /** Prefix of the ids. */
  readonly prefix: string;
  /** -1 for all. */
  readonly limit: number;
}

export const madeSql = (prefix: string): string =>
  `SELECT order_id AS id, created_at FROM intents ${prefix ? 'INDEXED BY intents_made' : ''}
   WHERE base_url = ? AND operation = ? AND order_id IS NOT NULL
     ${prefix ? 'AND order_id >= ? AND order_id < ?' : ''} ORDER BY created_at DESC LIMIT ?`;

export const inDoubtSql = `SELECT key AS id, created_at FROM intents INDEXED BY intents_live
   WHERE live > 0 AND live = 2 AND state = 'intended' AND base_url = ? ORDER BY created_at DESC LIMIT ?`;

/**
 * Ids of orders and other things that were made from the newest journal records of a service. Read-only. For each
 * operation, reads no more records than it may return.
 * @throws if there is no journal.
 */
export function peekMade(
  folder: string,
  baseUrl: string,
  { operations, prefix, limit }: Peeked,
): readonly PeekedIntent[] {
  // Ids are ASCII, so all ids with the prefix sort before this bound.
  const range = prefix ? [prefix, `${prefix}\u{7f}`] : [];
  const found = operations
    .flatMap((operation) => read(journalFile(folder), madeSql(prefix), [baseUrl, operation, ...range, limit]))
    .map(peekedOf)
    .toSorted((one, other) => (one.createdAt > other.createdAt ? -1 : 1));
  return limit < 0 ? found : found.slice(0, limit);
}

/** Keys of the newest journal records of a service that are in doubt. Read-only. @throws if there is no journal. */
export const peekInDoubt = (folder: string, baseUrl: string, limit: number): readonly PeekedIntent[] =>
  read(journalFile(folder), inDoubtSql, [baseUrl, limit]).map(peekedOf);

const peekedOf = ({ id, created_at }: Readonly<Record<string, unknown>>): PeekedIntent => ({
  ...{ id: String(id), createdAt: String(created_at) },
});

/** The newest webhook events received. Read-only. @throws if there is no store. */
export function peekEvents(folder: string, limit: number): readonly { id: string; text: string }[] {
  const sql = `SELECT id, coalesce(event, 'event') || '  ' || coalesce(order_id, '') AS text FROM events ORDER BY id DESC LIMIT ?`;
  return read(join(folder, 'webhooks.db'), sql, [limit]).map(({ id, text }) => ({
    id: String(id),
    text: String(text),
  }));
}

/** The newest approvals that can still be decided or used. Read-only. @throws if there is no journal. */
export function peekApprovals(folder: string, limit: number): readonly { id: string; text: string }[] {
  const sql = `SELECT id, state || ', asked ' || substr(asked_at, 1, 16) || 'Z' AS text FROM approvals
    WHERE state <> 'denied' ORDER BY asked_at DESC LIMIT ?`;
  return read(journalFile(folder), sql, [limit]).map(({ id, text }) => ({
    id: String(id),
    text: String(text),
  }));
}

/** The newest uploads to a service, by name. Read-only. @throws if there is no store. */
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
