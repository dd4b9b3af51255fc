import { createHash } from 'node:crypto';
import type { Sqlite } from '../platform/sqlite/load.ts';
import { sandboxFile } from './config.ts';

export type Kind = 'orders' | 'accounts' | 'batches' | 'returns';

interface Choice {
  readonly id: string;
  readonly text: string;
  /** Set only for an order: the facts from which the displayed state is derived, and the first product. */
  readonly order?: {
    readonly status: string;
    readonly parcel: string | undefined;
    readonly url: string;
    /** Title from the receipt; undefined before the order is placed. */
    readonly title: string | undefined;
  };
}

/** Statuses of the orders to list. */
export type OrderChoice = 'pending' | 'order_placed';

/** SQL that lists the newest entries of each kind, with id and description. */
const queries: Readonly<Record<Kind, string>> = {
  orders: `SELECT id, '' AS text, status, record ->> '$.items[0].url' AS url,
       record ->> '$.job_result.price_components.cart_items[0].name' AS title,
       (SELECT trackings.status FROM trackings WHERE order_seq = orders.seq LIMIT 1) AS parcel
     FROM orders WHERE user_id = ? AND id BETWEEN ? AND ? AND status LIKE ? ORDER BY created_at DESC, seq DESC`,
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
  {
    limit,
    prefix = '',
    status,
  }: { readonly limit: number; readonly prefix?: string; readonly status?: OrderChoice | undefined },
): readonly Choice[] {
  const database = open(sandboxFile(stateDir));
  try {
    const values = [
      ownerOf(database, apiKey),
      prefix,
      `${prefix}~`,
      ...(kind === 'orders' ? [status ?? '%'] : []),
    ];
    return database
      .prepare(`${queries[kind]} LIMIT ?`)
      .all(...values, limit)
      .map((row: object) => {
        const { id, text, status, url, title, parcel } = Object.assign(Object.create(null), row);
        const order = {
          status: String(status),
          url: String(url),
          title: textOf(title),
          parcel: textOf(parcel),
        };
        return { id: String(id), text: String(text), ...(kind === 'orders' && { order }) };
      });
  } finally {
    database.close();
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The user behind a key. If there is only one user, no lookup is needed, so a TAB completion need not hash the key. */
function ownerOf(database: Sqlite, apiKey: string): string {
  const users = database.prepare('SELECT id FROM users LIMIT 2').all().map(idOf);
  const [only = ''] = users;
  if (users.length < 2) return only;
  const hash = createHash('sha256').update(apiKey).digest('hex');
  return database.prepare('SELECT user_id AS id FROM api_keys WHERE hash = ?').all(hash).map(idOf)[0] ?? '';
}

const idOf = (row: object): string => String(Object.assign(Object.create(null), row).id);

export async function peekRetailers(): Promise<readonly Choice[]> {
  // Import the module lazily, because the other kinds do not need it.
  const { retailers } = await import('./catalogue/retailers.ts');
  return retailers.map(({ retailer, name }) => ({ id: retailer, text: name }));
}
