import { join } from 'node:path';
import { retailers } from './catalogue/retailers.ts';
import type { Sqlite } from './sqlite.ts';

export type Kind = 'orders' | 'accounts' | 'batches' | 'returns';

interface Glanced {
  readonly id: string;
  readonly text: string;
}

const whose = '(SELECT user_id FROM api_keys WHERE hash = ?)';

/** The newest of a kind: its id, and what tells it from the others. */
const queries: Readonly<Record<Kind, string>> = {
  orders: `SELECT id, status || '  ' || (record ->> '$.shipping_address.first_name') || ' '
       || (record ->> '$.shipping_address.last_name') || '  ' || (record ->> '$.items[0].url') AS text
     FROM orders WHERE user_id = ${whose} ORDER BY created_at DESC, seq DESC`,
  accounts: `SELECT short_id AS id, email || coalesce('  ' || retailer, '') AS text FROM accounts WHERE user_id = ${whose} ORDER BY seq DESC`,
  batches: `SELECT id, row_count || ' rows  ' || coalesce(filename, '') AS text FROM batches WHERE user_id = ${whose} ORDER BY seq DESC`,
  returns: `SELECT id, status AS text FROM returns WHERE user_id = ${whose} ORDER BY created_at DESC, seq DESC`,
};

/**
 * What a key has in the embedded sandbox, newest first, read in passing: the file is opened read-only, and nothing
 * that is due is brought up to date. @param open opens a file read-only. @throws where there is none, or an older one.
 */
export async function glanceSandbox(
  open: (file: string) => Sqlite,
  stateDir: string,
  apiKey: string,
  kind: Kind,
  limit: number,
): Promise<readonly Glanced[]> {
  const { createHash } = await import('node:crypto');
  const database = open(join(stateDir, 'sandbox.db'));
  try {
    const hash = createHash('sha256').update(apiKey).digest('hex');
    return database
      .prepare(`${queries[kind]} LIMIT ?`)
      .all(hash, limit)
      .map((row: object) => {
        const { id, text } = Object.assign(Object.create(null), row);
        return { id: String(id), text: String(text) };
      });
  } finally {
    database.close();
  }
}

/** The sandbox's retailers. */
export const glanceRetailers = (): readonly Glanced[] =>
  retailers.map(({ retailer, name }) => ({ id: retailer, text: name }));
