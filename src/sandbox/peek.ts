import { createHash } from 'node:crypto';
import type { Sqlite } from '../platform/sqlite/load.ts';
import { sandboxFile } from './config.ts';

export type Kind = 'orders' | 'accounts' | 'batches' | 'returns';

interface Choice {
  readonly id: string;
  readonly text: string;
}

/** SQL that lists the newest entries of each kind, with id and description. */
const queries: Readonly<Record<Kind, string>> = {
  orders: `SELECT id, status || '  ' || (record ->> '$.shipping_address.first_name') || ' '
       || (record ->> '$.shipping_address.last_name') || '  ' || (record ->> '$.items[0].url') AS text
     FROM orders WHERE user_id = ? AND id BETWEEN ? AND ? ORDER BY created_at DESC, seq DESC`,
  accounts: `SELECT short_id AS id, email || coalesce('  ' || retailer, '') AS text FROM accounts
     WHERE user_id = ? AND short_id BETWEEN ? AND ? ORDER BY seq DESC`,
  batches: `SELECT id, row_count || ' rows  ' || coalesce(filename, '') AS text FROM batches
     WHERE user_id = ? AND id BETWEEN ? AND ? ORDER BY seq DESC`,
  returns: `SELECT id, status AS text FROM returns WHERE user_id = ? AND id BETWEEN ? AND ? ORDER BY created_at DESC, seq DESC`,
};

/**
 * Lists a key's entries in the embedded sandbox, newest first. Opens the file read-only and does not process due work.
 * @param open opens a file read-only. @param limit maximum number of entries; -1 for all.
 * @param prefix prefix of the ids. @throws if the file is missing or from an older version.
 */
export function peekSandbox(
  open: (file: string) => Sqlite,
  stateDir: string,
  apiKey: string,
  kind: Kind,
  limit: number,
  prefix = '',
): readonly Choice[] {
  const database = open(sandboxFile(stateDir));
  try {
    return database
      .prepare(`${queries[kind]} LIMIT ?`)
      .all(ownerOf(database, apiKey), prefix, `${prefix}~`, limit)
      .map((row: object) => {
        const { id, text } = Object.assign(Object.create(null), row);
        return { id: String(id), text: String(text) };
      });
  } finally {
    database.close();
  }
}

/** The user behind a key. With a single user no lookup is needed, which saves a TAB completion from hashing the key. */
function ownerOf(database: Sqlite, apiKey: string): string {
  const users = database.prepare('SELECT id FROM users LIMIT 2').all().map(idOf);
  const [only = ''] = users;
  if (users.length < 2) return only;
  const hash = createHash('sha256').update(apiKey).digest('hex');
  return database.prepare('SELECT user_id AS id FROM api_keys WHERE hash = ?').all(hash).map(idOf)[0] ?? '';
}

const idOf = (row: object): string => String(Object.assign(Object.create(null), row).id);

export async function peekRetailers(): Promise<readonly Choice[]> {
  // Lazy import, because the other kinds do not need it.
  const { retailers } = await import('./catalogue/retailers.ts');
  return retailers.map(({ retailer, name }) => ({ id: retailer, text: name }));
}
