import { eachPlainField, plainDefault } from '../../api/order-fields.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { nextDue } from './lifecycle/index.ts';
import type { OrderBody, OrderPlan, OrderRecord, OrderState } from './lifecycle/types.ts';

export interface StoredOrder extends OrderState {
  readonly seq: number;
  readonly userId: string;
  readonly body: OrderBody;
  /** Amount, in cents, reserved in the wallet while the order is pending. */
  readonly reserved: number;
  readonly fee: number;
  /** The managed account used to place the order. */
  readonly accountId: string | null;
  /** Scheduled time, in ms since the epoch, at which the order is placed and its account becomes free again. */
  readonly queueEnd: number | null;
}

/** Period during which an order occupies its managed account. `start` and `end` are in ms since the epoch. */
interface Queued {
  readonly accountId: string;
  readonly start: number;
  readonly end: number;
}

interface NewRow {
  readonly state: OrderState;
  /** The serialized record. */
  readonly text: string;
  readonly body: OrderBody;
  readonly userId: string;
  readonly email: string | null;
  readonly key: string;
  readonly createdAt: number;
  readonly reserved: number;
  readonly fee: number;
  readonly walletPaid: boolean;
  readonly queued: Queued | null;
  /** Divides every delay in the order's timeline. */
  readonly speed: number;
}

/**
 * Inserts an order, together with the fields by which lists filter. Must run in a transaction. @returns the order's row
 * number.
 */
export function insertOrder(store: Store, row: NewRow): number {
  const { record } = row.state;
  const { first_name, last_name } = record.shipping_address;
  const { lastId } = store.run(
    `INSERT INTO orders (id, user_id, idempotency_key, created_at, status, recipient, created_by, reserved, fee, wallet_paid,
       record, listed, body, plan, next_due, account_id, queue_start, queue_end, speed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    record.id,
    row.userId,
    row.key,
    row.createdAt,
    record.status,
    `${first_name} ${last_name}`.toLowerCase(),
    row.email?.toLowerCase() ?? null,
    row.reserved,
    row.fee,
    row.walletPaid ? 1 : 0,
    row.text,
    listText(record, row.text),
    JSON.stringify(row.body),
    JSON.stringify(row.state.plan),
    nextDue(row.state.plan),
    row.queued?.accountId ?? null,
    row.queued?.start ?? null,
    row.queued?.end ?? null,
    row.speed,
  );
  for (const [key, value] of Object.entries(record.metadata ?? {})) {
    if (typeof value === 'object') continue;
    store.run(
      'INSERT INTO order_metadata (key, value, order_seq) VALUES (?, ?, ?)',
      key,
      String(value),
      lastId,
    );
  }
  for (const host of new Set(record.items.map(({ url }) => new URL(url).host)))
    store.run('INSERT INTO order_hosts (host, order_seq) VALUES (?, ?)', host, lastId);
  store.run('UPDATE users SET order_count = order_count + 1 WHERE id = ?', row.userId);
  return lastId;
}

/** Updates a stored order. Must run in a transaction. */
export function updateOrder(
  store: Store,
  seq: number,
  { record, plan }: OrderState,
  { text, reserved }: { text: string; reserved: number },
): void {
  store.run(
    'UPDATE orders SET status = ?, record = ?, listed = ?, plan = ?, next_due = ?, reserved = ? WHERE seq = ?',
    record.status,
    text,
    listText(record, text),
    JSON.stringify(plan),
    nextDue(plan),
    reserved,
    seq,
  );
  for (const { tracking_number, svc_tracking_number, status } of record.tracking_numbers) {
    store.run(
      `INSERT INTO trackings (order_seq, number, svc_number, status) VALUES (?, ?, ?, ?)
       ON CONFLICT (order_seq, number) DO UPDATE SET status = excluded.status`,
      seq,
      tracking_number,
      svc_tracking_number,
      status,
    );
  }
  for (const number of record.merchant_order_ids) {
    store.run(
      'INSERT OR IGNORE INTO merchant_orders (number, stripped, order_seq) VALUES (?, ?, ?)',
      number,
      withoutDashes(number),
      seq,
    );
  }
}

/** Normalizes a retailer's order number for comparison, because people type it with or without dashes. */
export const withoutDashes = (number: string): string => number.replaceAll('-', '');

/** Finds the caller's order, or any order if `userId` is null. */
export function findOrder(store: Store, id: string, userId: string | null): StoredOrder | undefined {
  const row = store.get(`SELECT ${storedColumns} FROM orders WHERE id = ?`, id);
  return row && (userId === null || row.user_id === userId) ? storedOrder(row) : undefined;
}

/** The id of the order that was created by retrying a failed order; null if the failed order was not retried. */
export function retriedAs(store: Store, id: string): string | null {
  const made = store.get('SELECT retried_as FROM orders WHERE id = ?', id)?.retried_as;
  return made == null ? null : String(made);
}

/** Columns that make up a stored order. */
export const storedColumns = 'seq, user_id, record, plan, body, reserved, fee, account_id, queue_end';

export function storedOrder(row: StoredRow): StoredOrder {
  // Only this module writes these columns, so their values have these types.
  return {
    seq: Number(row.seq),
    userId: String(row.user_id),
    record: JSON.parse(String(row.record)) as OrderRecord,
    plan: JSON.parse(String(row.plan)) as OrderPlan,
    body: JSON.parse(String(row.body)) as OrderBody,
    reserved: Number(row.reserved),
    fee: Number(row.fee),
    accountId: row.account_id === null ? null : String(row.account_id),
    queueEnd: row.queue_end === null ? null : Number(row.queue_end),
  };
}

/** The record as shown in lists, which include checkpoints only on request. @param whole is the serialized record. */
function listText(record: OrderRecord, whole: string): string {
  if (record.tracking_numbers.length === 0) return whole;
  const tracking_numbers = record.tracking_numbers.map(
    ({ checkpoints: _, ...rest }): Shape<'TrackingNumber'> => rest,
  );
  return JSON.stringify({ ...record, tracking_numbers });
}

/**
 * Loads the schemas and returns a function that serializes a record for storage and output. The returned function
 * throws if the record violates the contract. Lists are assembled from the serialized texts, so records are not
 * validated again later.
 */
export function loadRecordText(): Promise<RecordText> {
  loading ??= load();
  return loading;
}

/**
 * @param isStored whether the record comes from the store. Such a record may have fields that a newer version added and
 * this version does not know.
 */
type RecordText = (record: OrderRecord, isStored?: 'kept') => string;

/** Caches the lazy import, because every order needs the imported module. */
let loading: Promise<RecordText> | undefined;

async function load(): Promise<RecordText> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  return (record, isStored) => {
    const { issues: found = [] } = checkShape('OrderResponse', record, 'response');
    const issues = isStored ? found.filter(({ type }) => type !== 'extra_forbidden') : found;
    if (issues.length > 0) throw new Error(`an order became none: ${JSON.stringify(issues.slice(0, 5))}`);
    return JSON.stringify(record);
  };
}

const lacking = eachPlainField.map(([name]) => `json_type(record, '$.${name}') IS NULL`).join(' OR ');
const defaults = eachPlainField
  .map(([name, field]) => `'$.${name}', json('${plainDefault(field)}')`)
  .join(', ');

/**
 * Adds the fields that records of an earlier version lack, with default values, because lists are assembled from the
 * stored texts. All records are migrated at once, so checking the oldest record is enough.
 */
export async function fillRecords(store: Store): Promise<void> {
  const oldest = 'SELECT record FROM orders ORDER BY seq LIMIT 1';
  if (store.get(`SELECT 1 FROM (${oldest}) WHERE ${lacking}`) === undefined) return;
  await store.transaction(() => {
    store.run(
      `UPDATE orders SET record = json_insert(record, ${defaults}), listed = json_insert(listed, ${defaults})`,
    );
  });
}
