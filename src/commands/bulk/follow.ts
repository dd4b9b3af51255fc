import type { Context } from '../../context.ts';
import { type JsonObject, numberIn } from '../../contract/json.ts';
import { Deadline, stopwatch } from '../../deadline.ts';
import { exitCodes } from '../../errors.ts';
import { isBlip } from '../../ordering/blip.ts';
import type { TableLayout } from '../../state/uploads.ts';
import { type Batch, rowsOf } from './batch.ts';
import { layoutOf } from './layout.ts';
import { type RowState, type RowTally, stateOf, tallyOf } from './row-state.ts';

/** What following batches tells, as it happens. */
export type FollowEvent =
  | { readonly type: 'ready'; readonly batches: number }
  | ({ readonly type: 'row'; readonly batch_id: string; readonly row?: number } & JsonObject)
  | { readonly type: 'gap'; readonly message: string }
  | { readonly type: 'reconnected'; readonly gap_ms: number }
  | ({ readonly type: 'summary' } & FollowSummary);

export interface FollowSummary extends RowTally {
  /** Batches that go on, or that nothing was heard of. */
  readonly open: number;
  readonly elapsed_ms: number;
}

/** Between two looks, ms; longer where nothing changes. */
const pace = { shortestMs: 500, longestMs: 5000 };

const goesOn: ReadonlySet<RowState> = new Set(['waiting', 'under_way']);

/** Rows that the service has not written down yet are awaited like the others. */
function isDone(batch: Batch): boolean {
  const rows = rowsOf(batch);
  const count = numberIn(batch, 'row_count') ?? Number.POSITIVE_INFINITY;
  const isWhole = rows.length >= count || batch.status === 'completed' || batch.status === 'failed';
  return isWhole && rows.every((row) => !goesOn.has(stateOf(row, batch)));
}

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
  const layouts = new Map<string, Promise<TableLayout | undefined>>();
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
        const head = { type: 'row', batch_id: id } as const;
        for (const row of rowsOf(body)) {
          const state = `${row.status} ${row.orderStatus}`;
          const name = `${id} ${row.index}`;
          if (states.get(name) === state) continue;
          states.set(name, state);
          changes += 1;
          const number = (await layout(id))?.numbers[row.index];
          yield { ...head, ...(number !== undefined && { row: number }), ...row.record, ...head };
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

  function layout(id: string): Promise<TableLayout | undefined> {
    const known = layouts.get(id) ?? layoutOf(context, id);
    layouts.set(id, known);
    return known;
  }

  function summary(): FollowEvent {
    return { type: 'summary', ...tallyOf(latest.values()), open: open.size, elapsed_ms: elapsedMs() };
  }
}

/** Rows that were ordered before have not failed. */
export function exitCodeOf({ open, failed, refused }: FollowSummary): number {
  if (open > 0) return exitCodes.deadline;
  return failed + refused > 0 ? exitCodes.ended_badly : 0;
}

/** A batch as a list shows it: without its rows. */
export const withoutRows = ({ rows: _, ...batch }: Batch): Omit<Batch, 'rows'> => batch;
