import type { Output } from '../api/outputs/index.ts';
import type { Database } from '../platform/sqlite/database.ts';

/** What reads an order that was paid for without an account, and what proves the payment. */
export interface StoredGrant {
  readonly apiKey: string | undefined;
  readonly receipt: Output<'Receipt'> | undefined;
}

/** The keys and receipts of orders paid by challenge, beside the journal. They are kept as long as the file is. */
export class Grants {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #recent = new Map<string, StoredGrant>();

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** For as long as this process runs, also where it can be kept nowhere. */
  remember(orderId: string, baseUrl: string, grant: StoredGrant): void {
    this.#recent.set(JSON.stringify([baseUrl, orderId]), grant);
  }

  /** Keeps what an order came with; what is known already stays where nothing new comes. */
  keep(orderId: string, baseUrl: string, grant: StoredGrant): Promise<void> {
    return this.#database.transaction(() => this.write(orderId, baseUrl, grant));
  }

  /** As `keep`, within a transaction of the journal. */
  write(orderId: string, baseUrl: string, { apiKey, receipt }: StoredGrant): void {
    this.#database.run(
      `INSERT INTO grants (order_id, base_url, api_key, receipt, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (order_id, base_url) DO UPDATE SET api_key = coalesce(excluded.api_key, api_key),
         receipt = coalesce(excluded.receipt, receipt)`,
      orderId,
      baseUrl,
      apiKey ?? null,
      receipt ? JSON.stringify(receipt) : null,
      new Date(this.#now()).toISOString(),
    );
  }

  /** What an order at a service came with, if it was paid for from here. */
  of(orderId: string, baseUrl: string): StoredGrant | undefined {
    const [row] = this.#database.all(
      'SELECT * FROM grants WHERE order_id = ? AND base_url = ?',
      orderId,
      baseUrl,
    );
    if (!row) return this.#recent.get(JSON.stringify([baseUrl, orderId]));
    const { api_key: apiKey, receipt } = row;
    return {
      apiKey: typeof apiKey === 'string' ? apiKey : undefined,
      receipt: typeof receipt === 'string' ? JSON.parse(receipt) : undefined,
    };
  }
}
