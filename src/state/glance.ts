import { journalFile } from './journal-tables.ts';
import { openReader } from './reader.ts';

/** A record of the journal, read in passing. Times ISO 8601. */
export interface GlancedIntent {
  readonly key: string;
  readonly state: string;
  readonly orderId: string | undefined;
  readonly createdAt: string;
}

/** The newest records of the journal at a service; it is opened read-only. @throws where there is none. */
export function glanceJournal(folder: string, baseUrl: string, limit: number): readonly GlancedIntent[] {
  const database = openReader(journalFile(folder));
  try {
    const rows = database
      .prepare(
        'SELECT key, state, order_id, created_at FROM intents WHERE base_url = ? ORDER BY created_at DESC LIMIT ?',
      )
      .all(baseUrl, limit);
    return rows.map((row: object) => {
      const { key, state, order_id, created_at } = Object.assign(Object.create(null), row);
      return {
        key: String(key),
        state: String(state),
        orderId: order_id === null ? undefined : String(order_id),
        createdAt: String(created_at),
      };
    });
  } finally {
    database.close();
  }
}
