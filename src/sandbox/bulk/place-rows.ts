import { realMs } from '../../platform/clock.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { isAnythingDue, runDueTransitions } from '../control/due-transitions.ts';
import { mayContinue, OneRun } from '../control/scheduler.ts';
import { prepareOrder } from '../orders/create.ts';
import type { OrderBody } from '../orders/lifecycle/types.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Chunk, Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';

/** Whether any batch row is due by `now` (ms) and not placed yet. */
export const isAnyRowDue = (store: Store, now: number): boolean =>
  store.cached('next due row', () =>
    Number(
      store.get('SELECT min(due) AS due FROM batch_rows WHERE due IS NOT NULL')?.due ??
        Number.POSITIVE_INFINITY,
    ),
  ) <= now;

const runs = new OneRun();

/**
 * Places the batch rows due by `now` (ms). Each row becomes an order created at the row's due time, so that the time of
 * processing does not affect the order's life cycle. Stops after `budgetMs` of real time; the next call continues. If
 * another run is in progress, waits for that run, but no longer than `budgetMs`.
 */
export const placeRows = (service: Service, now: number, budgetMs: number): Promise<void> =>
  runs.join(
    service.store,
    () => isAnyRowDue(service.store, now),
    (end) => placeUntil(service, now, end),
    budgetMs,
  );

async function placeUntil(service: Service, now: number, end: number): Promise<void> {
  const { store, scheduler: pace } = service;
  for (;;) {
    const { chunk } = pace;
    const due = store.all(
      `SELECT r.batch_seq, r.place, r.due, r.body, b.user_id, u.email FROM batch_rows r
       JOIN batches b ON b.seq = r.batch_seq JOIN users u ON u.id = b.user_id
       WHERE r.due <= ? ORDER BY r.due, r.batch_seq, r.place LIMIT ?`,
      now,
      chunk.maxRecords,
    );
    if (due.length === 0) return;
    const startedAt = realMs();
    const prepared: Prepared[] = [];
    for (const row of due) {
      if (!mayContinue(chunk, startedAt, prepared.length)) break;
      prepared.push(await placing(service, row));
    }
    await placeInTurn(service, prepared, realMs() - startedAt);
    if (realMs() >= end) return;
  }
}

/** A row ready to be placed. */
interface Prepared {
  readonly batch: number;
  /** Time at which the row is due, in ms since the epoch. */
  readonly due: number;
  /**
   * Places the row unless it has been placed meanwhile. Call within a transaction. @returns false if the row must wait
   * for earlier orders.
   */
  readonly place: () => boolean;
}

/**
 * Places rows in order. If the wallet is short, first advances earlier orders to the row's due time, which may release
 * their reserved funds. Everything that placing writes, including ids, can be derived from the store again, so no
 * transaction waits for an fsync. @param preparedMs time that preparing the rows took.
 */
async function placeInTurn(service: Service, rows: readonly Prepared[], preparedMs: number): Promise<void> {
  const { store, scheduler: pace } = service;
  let left = rows;
  let before = preparedMs;
  while (left.length > 0) {
    const { placed, isShort, workedMs } = await store.unsyncedTransaction(() =>
      placeSome(store, pace.chunk, left),
    );
    left = left.slice(placed);
    const [first] = left;
    if (first && isShort) await runDueTransitions(service, first.due);
    await pace.pause(before + workedMs);
    before = 0;
  }
}

interface Placed {
  readonly placed: number;
  /** Whether the next row must wait for earlier orders. */
  readonly isShort: boolean;
  readonly workedMs: number;
}

/** Places as many rows as one chunk allows. Call within a transaction. */
function placeSome(store: Store, chunk: Chunk, rows: readonly Prepared[]): Placed {
  const startedAt = realMs();
  let placed = 0;
  let isShort = false;
  for (const row of rows) {
    isShort = !row.place();
    if (isShort) break;
    placed += 1;
    if (!mayContinue(chunk, startedAt, placed)) break;
  }
  for (const [batch, due] of new Map(rows.slice(0, placed).map((row) => [row.batch, row.due])))
    finish(store, batch, due);
  return { placed, isShort, workedMs: realMs() - startedAt };
}

async function placing(service: Service, row: StoredRow): Promise<Prepared> {
  const { store, report } = service;
  const [batch, place, due] = [Number(row.batch_seq), Number(row.place), Number(row.due)];
  const settle = (order: { seq: number; id: string } | undefined, error: string | null): void =>
    void store.run(
      'UPDATE batch_rows SET due = NULL, order_seq = ?, order_id = ?, error = ? WHERE batch_seq = ? AND place = ?',
      order?.seq ?? null,
      order?.id ?? null,
      error,
      batch,
      place,
    );
  const fail = (error: unknown): void => {
    if (error instanceof DatabaseError) throw error;
    if (!(error instanceof ErrorResponse)) report(error);
    settle(
      undefined,
      error instanceof ErrorResponse
        ? `${error.code}: ${described(error)}`
        : 'internal_error: this row could not be placed',
    );
  };
  const isOpen = (): boolean =>
    store.get('SELECT due FROM batch_rows WHERE batch_seq = ? AND place = ?', batch, place)?.due != null;
  const isShort = (error: unknown): boolean =>
    error instanceof ErrorResponse && error.code === 'insufficient_funds' && isAnythingDue(store, due);
  const orderer = { userId: String(row.user_id), email: row.email === null ? null : String(row.email) };
  // This cast is safe because the column was written from a validated body.
  const body = JSON.parse(String(row.body)) as OrderBody;
  const save = await prepareOrder(service, orderer, body).catch((error: unknown) => () => {
    throw error;
  });
  return {
    batch,
    due,
    place: () => {
      if (!isOpen()) return true;
      try {
        store.attempt(() => settle(save(due), null));
      } catch (error) {
        if (isShort(error)) return false;
        fail(error);
      }
      return true;
    },
  };
}

/**
 * Error text of a row. If the order already exists, the text includes the order's id, so that the sender can find the
 * order.
 */
const described = ({ code, message, details }: ErrorResponse): string =>
  code === 'already_exists' ? `${message} It is order ${details.identifier}.` : message;

/**
 * Updates a batch after some of its rows were placed. If no open row is left, completes the batch and notifies the
 * uploader. @param at when the last placed row was due, in ms since the epoch.
 */
function finish(store: Store, batch: number, at: number): void {
  // Search from the end. Rows are placed in order, so the last row is open until all rows are placed.
  const open = store.get(
    'SELECT 1 FROM batch_rows WHERE batch_seq = ? AND due IS NOT NULL ORDER BY place DESC LIMIT 1',
    batch,
  );
  store.run(
    'UPDATE batches SET updated_at = max(updated_at, ?), notified_at = CASE WHEN ? AND notify = 1 THEN ? ELSE notified_at END WHERE seq = ?',
    at,
    open ? 0 : 1,
    at,
    batch,
  );
}
