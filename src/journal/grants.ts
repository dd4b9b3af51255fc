import { jsonIn } from '../api/json.ts';
import type { Output } from '../api/outputs/index.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { MachineSealer } from './mac.ts';

/** The receipt of an order paid for without an account, and the key that reads the order. */
export interface StoredGrant {
  readonly apiKey: string | undefined;
  readonly receipt: Output<'Receipt'> | undefined;
}

/** Error code if only another machine has the key of an order. */
export const paidElsewhere = 'paid_elsewhere';

/**
 * Keys and receipts of orders paid by challenge. They are stored beside the journal for as long as the database file
 * exists.
 */
export class Grants {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #sealer: MachineSealer;
  readonly #recent = new Map<string, StoredGrant>();

  /** @param sealer encrypts the keys of the orders. */
  constructor(database: Database, now: () => number, sealer: MachineSealer) {
    this.#database = database;
    this.#sealer = sealer;
    this.#now = now;
  }

  /** Remembers a grant in memory for this process, even if the grant cannot be persisted. */
  remember(orderId: string, baseUrl: string, grant: StoredGrant): void {
    this.#recent.set(ownerOf(orderId, baseUrl), grant);
  }

  /** Persists an order's grant; missing values do not overwrite known ones. */
  save(orderId: string, baseUrl: string, grant: StoredGrant): Promise<void> {
    return this.#database.transaction(() => this.write(orderId, baseUrl, grant));
  }

  /** Does the same as `save`, within a journal transaction. */
  write(orderId: string, baseUrl: string, { apiKey, receipt }: StoredGrant): void {
    this.#database.run(
      `INSERT INTO grants (order_id, base_url, api_key, receipt, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (order_id, base_url) DO UPDATE SET api_key = coalesce(excluded.api_key, api_key),
         receipt = coalesce(excluded.receipt, receipt)`,
      orderId,
      baseUrl,
      apiKey === undefined ? null : this.#sealer.seal(apiKey, ownerOf(orderId, baseUrl)),
      receipt ? JSON.stringify(receipt) : null,
      new Date(this.#now()).toISOString(),
    );
  }

  /** Grant of an order that was paid for. If another machine stored the grant, the key in it cannot be read. */
  of(orderId: string, baseUrl: string): (StoredGrant & { readonly isOfOtherMachine?: boolean }) | undefined {
    const [row] = this.#database.all(
      'SELECT * FROM grants WHERE order_id = ? AND base_url = ?',
      orderId,
      baseUrl,
    );
    if (!row) return this.#recent.get(ownerOf(orderId, baseUrl));
    const { api_key: apiKey, receipt } = row;
    const opened =
      typeof apiKey === 'string' ? this.#sealer.open(apiKey, ownerOf(orderId, baseUrl)) : undefined;
    return {
      apiKey: opened,
      ...(apiKey !== null && opened === undefined && { isOfOtherMachine: true }),
      receipt: typeof receipt === 'string' ? (jsonIn(receipt) as StoredGrant['receipt']) : undefined,
    };
  }
}

const ownerOf = (orderId: string, baseUrl: string): string => JSON.stringify([baseUrl, orderId]);
