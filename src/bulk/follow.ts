import { type JsonObject, numberIn } from '../api/json.ts';
import type { TableLayout } from '../journal/uploads.ts';
import { Deadline, stopwatch } from '../platform/clock.ts';
import { exitCodes } from '../platform/errors.ts';
import { type Interruption, watchWithSummary } from '../platform/poll.ts';
import type { Context } from '../run/context.ts';
import { type Batch, rowsOf } from './batch.ts';
import { layoutOf } from './csv/headings.ts';
import { withMetOrders } from './met-orders.ts';
import { type NamedBatches, unsentIn } from './named.ts';
import { type RowState, type RowTally, stateOf, tallyOf } from './row-state.ts';

/** What following batches tells, as it happens. */
export type FollowEvent =
  | { readonly type: 'ready'; readonly batches: number }
  | ({ readonly type: 'row'; readonly batch_id: string; readonly row?: number } & JsonObject)
  | Interruption
  | ({ readonly type: 'summary' } & FollowSummary);

export interface FollowSummary extends RowTally {
  /** Batches that go on, or that nothing was heard of. */
  readonly open: number;
  /** Rows of the uploads that were not sent yet. */
  readonly unsent: number;
  readonly elapsed_ms: number;
}

/** Between two looks, ms; longer where nothing changes. */
const pace = { shortestMs: 500, longestMs: 5000 };

const goesOn: ReadonlySet<RowState> = new Set(['waiting', 'under_way']);

/** Rows that the service has not written down yet are awaited like the others. */
export function isDone(batch: Batch): boolean {
  const rows = rowsOf(batch);
  const count = numberIn(batch, 'row_count') ?? Number.POSITIVE_INFINITY;
  const isOver = batch.status === 'completed' || batch.status === 'failed';
  const isWhole = rows.length >= count || isOver;
  const isOpen = (state: RowState): boolean => goesOn.has(state) || (state === 'unknown' && !isOver);
  return isWhole && rows.every((row) => !isOpen(stateOf(row, batch)));
}

/**
 * Follows batches until every row has become an order that was placed, or has failed; a row for each change. An interruption is
 * thrown once the `summary` is out.
 * @param latest keeps the batches as last read. @throws ErrandError for what polling cannot mend.
 */
export async function* followBatches(
  context: Context,
  { ids, uploads, counted }: Pick<NamedBatches, 'ids' | 'uploads' | 'counted'>,
  latest: Map<string, Batch>,
): AsyncGenerator<FollowEvent> {
  const { clock, signal } = context;
  const client = await context.client();
  const elapsedMs = stopwatch(clock);
  const deadline = new Deadline(clock, context.waitMs());
  const states = new Map<string, string>();
  const layouts = new Map<string, Promise<TableLayout | undefined>>();
  const open = new Set(ids);
  yield* watchWithSummary<FollowEvent>(
    { type: 'ready', batches: ids.length },
    {
      look: changes,
      isOver: () => open.size === 0,
      hasResponded: () => latest.size > 0,
      pace,
      deadline,
      clock,
      signal,
    },
    summary,
  );

  /** Every open batch once, an event for each row that has changed. */
  async function* changes(): AsyncGenerator<FollowEvent> {
    for (const id of open) {
      const { body } = await client.call('bulk.get', { path: { batch_id: id } });
      latest.set(id, body);
      const head = { type: 'row', batch_id: id } as const;
      for (const row of rowsOf(body)) {
        const state = `${row.status} ${row.orderStatus}`;
        const name = `${id} ${row.index}`;
        if (states.get(name) === state) continue;
        states.set(name, state);
        const number = (await layout(id))?.numbers[row.index];
        yield { ...head, ...(number !== undefined && { row: number }), ...row.record, ...head };
      }
      if (!isDone(body)) continue;
      // Whether an order that a row met has failed, the batch does not say.
      const [whole = body] = await withMetOrders(context, [body]);
      latest.set(id, whole);
      open.delete(id);
    }
  }

  function layout(id: string): Promise<TableLayout | undefined> {
    const known = layouts.get(id) ?? layoutOf(context, id);
    layouts.set(id, known);
    return known;
  }

  function summary(): FollowEvent {
    const unsent = uploads.reduce((sum, upload) => sum + unsentIn(upload), 0);
    const tally = tallyOf(counted(latest.values()));
    return { type: 'summary', ...tally, open: open.size, unsent, elapsed_ms: elapsedMs() };
  }
}

/** Rows that were ordered before have not failed. */
export function exitCodeOf({ open, failed, refused, unsent }: FollowSummary): number {
  if (open > 0) return exitCodes.deadline;
  return failed + refused + unsent > 0 ? exitCodes.ended_badly : 0;
}

/** A batch as a list shows it: without its rows. */
export const withoutRows = ({ rows: _, ...batch }: Batch): Omit<Batch, 'rows'> => batch;
