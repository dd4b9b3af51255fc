import type { Shape } from '../../api/schemas/index.ts';
import type { IdGenerator } from '../store/identity.ts';
import type { Store, StoredRow } from '../store/store.ts';
import type { CheckedRow } from './check-rows.ts';

type Batch = Shape<'BulkBatchResponse'>;
type Upload = Pick<Shape<'BulkUploadRequest'>, 'filename' | 'notify_on_complete'>;

/** Delay before a batch's first row, and delay before each further row, both in ms. */
const [firstRowMs, nextRowMs] = [300, 1];

/**
 * Stores a batch. Rows that are not valid orders fail immediately. The valid rows are placed after the rows of the
 * user's earlier batches. Call within a transaction. @returns the batch's id.
 */
export function insertBatch(
  store: Store,
  identity: IdGenerator,
  {
    userId,
    upload,
    rows,
    now,
    speed,
    newId,
  }: {
    userId: string;
    upload: Upload;
    rows: readonly CheckedRow[];
    now: number;
    speed: number;
    newId?: string;
  },
): string {
  const id = newId ?? identity.uuid('batch');
  const { lastId } = store.run(
    'INSERT INTO batches (id, user_id, filename, row_count, notify, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    id,
    userId,
    upload.filename ?? null,
    rows.length,
    upload.notify_on_complete ? 1 : 0,
    now,
    now,
  );
  const first = Math.max(now + firstRowMs / speed, lastDue(store, userId) + nextRowMs / speed);
  for (const { shown, body } of rows) {
    const due = Math.ceil(first + (shown.index * nextRowMs) / speed);
    store.run(
      'INSERT INTO batch_rows (batch_seq, place, due, body, error, recipient, product_urls, passthrough) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      lastId,
      shown.index,
      body && due,
      body && JSON.stringify(body),
      body ? null : `validation_error: ${shown.errors.join('; ')}`,
      shown.recipient,
      JSON.stringify(shown.product_urls),
      JSON.stringify(shown.passthrough),
    );
  }
  return id;
}

/**
 * Due time of the user's last waiting row, in ms since the epoch; 0 if none. CROSS JOIN makes SQLite scan rows by due
 * time; otherwise SQLite would read and sort every row that the user ever sent.
 */
export function lastDue(store: Store, userId: string): number {
  const row = store.get(
    `SELECT r.due FROM batch_rows r CROSS JOIN batches b ON b.seq = r.batch_seq
     WHERE r.due IS NOT NULL AND b.user_id = ? ORDER BY r.due DESC LIMIT 1`,
    userId,
  );
  return Number(row?.due ?? 0);
}

const counted = `SELECT b.*, count(r.order_seq) AS placed, count(r.error) AS failed
  FROM batches b JOIN batch_rows r ON r.batch_seq = b.seq`;

/** The caller's batches without their rows, newest first. */
export function listBatches(
  store: Store,
  userId: string,
  { limit, offset }: { limit: number; offset: number },
): { batches: Omit<Batch, 'rows'>[]; total: number } {
  const rows = store.all(
    `${counted} WHERE b.seq IN (SELECT seq FROM batches WHERE user_id = ? ORDER BY seq DESC LIMIT ? OFFSET ?)
     GROUP BY b.seq ORDER BY b.seq DESC`,
    userId,
    limit,
    offset,
  );
  const total = store.get('SELECT count(*) AS total FROM batches WHERE user_id = ?', userId)?.total;
  return { batches: rows.map(batchOf), total: Number(total) };
}

/** The caller's batch with the current state of its rows; undefined for an unknown id. */
export function findBatch(store: Store, userId: string, id: string): Batch | undefined {
  const row = store.get(`${counted} WHERE b.id = ? AND b.user_id = ? GROUP BY b.seq`, id, userId);
  if (!row) return undefined;
  const rows = store.all(
    `SELECT r.*, o.status AS order_status FROM batch_rows r LEFT JOIN orders o ON o.seq = r.order_seq
     WHERE r.batch_seq = ? ORDER BY r.place`,
    Number(row.seq),
  );
  return { ...batchOf(row), rows: rows.map(rowOf) };
}

interface BatchOfUser {
  readonly seq: number;
  readonly userId: string;
  readonly batch: Omit<Batch, 'rows'>;
}

const ofAll = `SELECT b.*,
  (SELECT count(*) FROM batch_rows r WHERE r.batch_seq = b.seq AND r.order_seq IS NOT NULL) AS placed,
  (SELECT count(*) FROM batch_rows r WHERE r.batch_seq = b.seq AND r.error IS NOT NULL) AS failed FROM batches b`;

const batchOfUser = (row: StoredRow): BatchOfUser => ({
  seq: Number(row.seq),
  userId: String(row.user_id),
  batch: batchOf(row),
});

type Bound = readonly (string | number)[];

/** All users' batches. The SQL refers to a batch as `b`. @param window which of those that match, in which order. */
export const readBatches = (
  store: Store,
  { sql, values }: { readonly sql: string; readonly values: Bound },
  window: {
    readonly where: string;
    readonly order: string;
    readonly values: Bound;
    readonly limit: number;
  },
): BatchOfUser[] =>
  store
    .all(
      `${ofAll} WHERE ${sql} AND ${window.where} ORDER BY ${window.order} LIMIT ?`,
      ...values,
      ...window.values,
      window.limit,
    )
    .map(batchOfUser);

/** Finds a batch by id, whichever user it belongs to. The result does not contain the batch's rows. */
export function findAnyBatch(store: Store, id: string): BatchOfUser | undefined {
  const row = store.get(`${ofAll} WHERE b.id = ?`, id.toLowerCase());
  return row && batchOfUser(row);
}

const states: Readonly<Record<Batch['rows'][number]['status'], string>> = {
  pending: 'r.order_seq IS NULL AND r.error IS NULL',
  placed: 'r.order_seq IS NOT NULL',
  failed: 'r.error IS NOT NULL',
};

/**
 * Rows of a batch, in order. @param after limits the result to rows after this index. @param status limits the result
 * to rows in this state.
 */
export const readBatchRows = (
  store: Store,
  seq: number,
  { after, limit, status }: { after: number; limit: number; status: keyof typeof states | undefined },
): Batch['rows'] =>
  store
    .all(
      `SELECT r.*, o.status AS order_status FROM batch_rows r LEFT JOIN orders o ON o.seq = r.order_seq
       WHERE r.batch_seq = ? AND r.place > ? AND ${status === undefined ? 'true' : states[status]} ORDER BY r.place LIMIT ?`,
      seq,
      after,
      limit,
    )
    .map(rowOf);

function batchOf(row: StoredRow): Omit<Batch, 'rows'> {
  const [rows, placed, failed] = [Number(row.row_count), Number(row.placed), Number(row.failed)];
  const iso = (at: unknown): string => new Date(Number(at)).toISOString();
  return {
    id: String(row.id),
    filename: row.filename === null ? null : String(row.filename),
    status: statusOf(rows, placed, failed),
    row_count: rows,
    placed_count: placed,
    failed_count: failed,
    notify_on_complete: row.notify === 1,
    notified_at: row.notified_at === null ? null : iso(row.notified_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** A batch is `failed` if no row became an order. */
function statusOf(rows: number, placed: number, failed: number): Batch['status'] {
  if (failed === rows) return 'failed';
  if (placed + failed === rows) return 'completed';
  return placed > 0 ? 'processing' : 'pending';
}

function rowOf(row: StoredRow): Batch['rows'][number] {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return {
    index: Number(row.place),
    status: row.error !== null ? 'failed' : row.order_id === null ? 'pending' : 'placed',
    order_id: text(row.order_id),
    order_status: text(row.order_status),
    error: text(row.error),
    recipient: text(row.recipient),
    product_urls: JSON.parse(String(row.product_urls)),
    passthrough: JSON.parse(String(row.passthrough)),
  };
}
