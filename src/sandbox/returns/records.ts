import type { QueryOf } from '../server/handler.ts';
import type { Store, StoredRow } from '../store/store.ts';
import type { ReturnPlan, ReturnRecord, ReturnState } from './lifecycle.ts';

export interface StoredReturn extends ReturnState {
  readonly seq: number;
  readonly userId: string;
}

interface NewReturn {
  readonly state: ReturnState;
  readonly userId: string;
  /** The order's row number. */
  readonly orderSeq: number;
  /** Creation time, ms since the epoch. */
  readonly createdAt: number;
  /** Divides every delay in the return's timeline. */
  readonly speed: number;
}

/** Inserts a return. Must run in a transaction. */
export function insertReturn(store: Store, { state, userId, orderSeq, createdAt, speed }: NewReturn): void {
  const { record, plan } = state;
  store.run(
    `INSERT INTO returns (id, user_id, order_seq, order_id, status, record, plan, next_due, created_at, speed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    record.id,
    userId,
    orderSeq,
    record.order_id,
    record.status,
    JSON.stringify(record),
    JSON.stringify(plan),
    plan[0]?.at ?? null,
    createdAt,
    speed,
  );
}

/** Updates a stored return. Must run in a transaction. */
export function updateReturn(store: Store, seq: number, { record, plan, labels }: ReturnState): void {
  store.run(
    'UPDATE returns SET status = ?, number = ?, labels = ?, record = ?, plan = ?, next_due = ? WHERE seq = ?',
    record.status,
    record.merchant_return_id?.toLowerCase() ?? '',
    labels,
    JSON.stringify(record),
    JSON.stringify(plan),
    plan[0]?.at ?? null,
    seq,
  );
}

/** Finds the caller's return, or any return if `userId` is null. */
export function findReturn(store: Store, id: string, userId: string | null): StoredReturn | undefined {
  const row = store.get('SELECT * FROM returns WHERE id = ?', id.toLowerCase());
  return row && (userId === null || row.user_id === userId) ? storedReturn(row) : undefined;
}

/** All returns of an order, oldest first. */
export const returnsOf = (store: Store, orderSeq: number): StoredReturn[] =>
  store.all('SELECT * FROM returns WHERE order_seq = ? ORDER BY seq', orderSeq).map(storedReturn);

/** Finds the return that a signed label URL belongs to, regardless of owner. */
export function findLabel(store: Store, id: string, number: number): ReturnRecord | undefined {
  const row = store.get('SELECT record FROM returns WHERE id = ? AND labels >= ?', id, number);
  return row && JSON.parse(String(row.record));
}

/** A page of the caller's returns, newest first, with the total count. */
export function listReturns(
  store: Store,
  userId: string,
  { status, search, limit, offset }: QueryOf<'return.list'>,
): { returns: StoredReturn[]; total: number } {
  const text = (search ?? '').toLowerCase();
  const conditions = [
    { sql: 'r.user_id = ?', values: [userId] },
    ...(status === undefined ? [] : [{ sql: 'r.status = ?', values: [status] }]),
    ...(text === ''
      ? []
      : [
          {
            sql: '(instr(r.id, ?) > 0 OR instr(r.order_id, ?) > 0 OR instr(r.number, ?) > 0)',
            values: [text, text, text],
          },
        ]),
  ];
  const matching = `FROM returns r WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
  const values = conditions.flatMap((condition) => condition.values);
  // The inner query uses only an index, so fetching a late page does not read the records of the pages before it.
  const rows = store.all(
    `SELECT * FROM returns WHERE seq IN
       (SELECT seq FROM (SELECT r.seq ${matching} ORDER BY r.created_at DESC, r.seq DESC LIMIT ? OFFSET ?))
     ORDER BY created_at DESC, seq DESC`,
    ...values,
    limit,
    offset,
  );
  const total = Number(store.get(`SELECT count(*) AS total ${matching}`, ...values)?.total ?? 0);
  return { returns: rows.map(storedReturn), total };
}

export function storedReturn(row: StoredRow): StoredReturn {
  // Only this module writes these columns, so their values have these types.
  return {
    seq: Number(row.seq),
    userId: String(row.user_id),
    record: JSON.parse(String(row.record)) as ReturnRecord,
    plan: JSON.parse(String(row.plan)) as ReturnPlan,
    labels: Number(row.labels),
  };
}
