import type { Context } from '../../context.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { Deadline, stopwatch } from '../../deadline.ts';
import { exitCodes } from '../../errors.ts';
import { isBlip } from '../../ordering/blip.ts';
import type { Row } from '../../output/result.ts';

export type Batch = Shape<'BulkBatchResponse'>;
type BatchRow = Batch['rows'][number];

/** What following batches tells, as it happens. */
export type FollowEvent =
  | { readonly type: 'ready'; readonly batches: number }
  | ({ readonly type: 'row'; readonly batch_id: string } & BatchRow)
  | { readonly type: 'gap'; readonly message: string }
  | { readonly type: 'reconnected'; readonly gap_ms: number }
  | ({ readonly type: 'summary' } & FollowSummary);

export interface FollowSummary {
  readonly rows: number;
  /** Rows whose order was placed. */
  readonly placed: number;
  /** Rows that became no order, and orders that failed or were cancelled. */
  readonly failed: number;
  readonly waiting: number;
  /** Batches that go on, or that nothing was heard of. */
  readonly open: number;
  readonly elapsed_ms: number;
}

/** Between two looks, ms; longer where nothing changes. */
const pace = { shortestMs: 500, longestMs: 5000 };

const openOrder: ReadonlySet<string | null> = new Set(['pending', 'in_progress']);
const goodOrder = 'order_placed';

type Verdict = 'placed' | 'failed' | 'waiting';

function verdictOf({ status, order_status: order }: BatchRow, batch: Batch): Verdict {
  // A batch that failed as a whole places no more rows.
  if (status === 'failed' || (status === 'pending' && batch.status === 'failed')) return 'failed';
  if (status === 'pending' || openOrder.has(order)) return 'waiting';
  return order === goodOrder ? 'placed' : 'failed';
}

/** Whether a row became no order because its key has one already. */
export const hasEarlierOrder = (row: BatchRow): boolean =>
  row.status === 'failed' && row.error?.startsWith('already_exists') === true;

/** Whether a row is to be tried again: it became no order and no order of its key exists, or its order failed. */
export const isFailed = (row: BatchRow, batch: Batch): boolean =>
  verdictOf(row, batch) === 'failed' && !hasEarlierOrder(row);

/** Rows that the service has not written down yet are awaited like the others. */
const isDone = (batch: Batch): boolean =>
  batch.rows.every((row) => verdictOf(row, batch) !== 'waiting') &&
  (batch.rows.length >= batch.row_count || batch.status === 'completed' || batch.status === 'failed');

/**
 * Follows batches until every row has become an order that was placed, or has failed; a row for each change. An interruption is
 * thrown once the `summary` is out.
 * @param latest keeps the batches as last read. @throws ErrandError for what polling cannot mend.
 */
export async function* followBatches(
  context: Context,
  ids: readonly string[],
  latest: Map<string, Batch>,
): AsyncGenerator<FollowEvent> {
  const { clock, signal } = context;
  const client = await context.client();
  const elapsedMs = stopwatch(clock);
  const deadline = new Deadline(clock, context.waitMs());
  const states = new Map<string, string>();
  const open = new Set(ids);
  let pauseMs = pace.shortestMs;
  let gapMs: (() => number) | undefined;
  yield { type: 'ready', batches: ids.length };
  try {
    while (open.size > 0) {
      const changes = yield* round();
      pauseMs = changes > 0 ? pace.shortestMs : Math.min(pace.longestMs, pauseMs * 1.5);
      if (open.size === 0 || !(await deadline.pause(pauseMs, signal))) break;
    }
  } catch (error) {
    // Whoever reads the events is owed their end.
    if (signal.aborted) yield summary();
    throw error;
  }
  yield summary();

  /** Every open batch once. @returns how many rows have changed. */
  async function* round(): AsyncGenerator<FollowEvent, number> {
    let changes = 0;
    try {
      for (const id of open) {
        const { body } = await client.call('bulk.get', { path: { batch_id: id } });
        latest.set(id, body);
        for (const row of body.rows) {
          const state = `${row.status} ${row.order_status}`;
          const name = `${id} ${row.index}`;
          if (states.get(name) === state) continue;
          states.set(name, state);
          changes += 1;
          yield { type: 'row', batch_id: id, ...row };
        }
        if (isDone(body)) open.delete(id);
      }
      if (gapMs) yield { type: 'reconnected', gap_ms: gapMs() };
      gapMs = undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isBlip(error, latest.size > 0)) throw error;
      if (!gapMs) yield { type: 'gap', message: error.message };
      gapMs ??= stopwatch(clock);
    }
    return changes;
  }

  function summary(): FollowEvent {
    return { type: 'summary', ...tallyOf(latest), open: open.size, elapsed_ms: elapsedMs() };
  }
}

/** How the rows of batches stand. */
export function tallyOf(batches: ReadonlyMap<string, Batch>): Omit<FollowSummary, 'elapsed_ms' | 'open'> {
  const tally = { rows: 0, placed: 0, failed: 0, waiting: 0 };
  for (const batch of batches.values()) {
    for (const row of batch.rows) {
      tally.rows += 1;
      tally[verdictOf(row, batch)] += 1;
    }
  }
  return tally;
}

export function exitCodeOf({ open, failed }: Pick<FollowSummary, 'open' | 'failed'>): number {
  if (open > 0) return exitCodes.deadline;
  return failed > 0 ? exitCodes.ended_badly : 0;
}

/** A batch as a list shows it: without its rows. */
export const withoutRows = ({ rows: _, ...batch }: Batch): Row => batch;
