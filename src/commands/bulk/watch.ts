import type { Batch } from '../../bulk/batch.ts';
import { batchColumns, batchScreen, countedColumns } from '../../bulk/batch-columns.ts';
import { conclusions } from '../../bulk/conclusions.ts';
import { exitCodeOf, type FollowSummary, withoutRows } from '../../bulk/follow.ts';
import { readReasons } from '../../bulk/reasons.ts';
import { tallyOf } from '../../bulk/row-state.ts';
import { goingOn, rowsStanding, stoppable } from '../../bulk/standing.ts';
import { defineCommand } from '../../cli/define.ts';
import { readIds } from '../../cli/ids.ts';
import type { Context } from '../../context.ts';
import { countText } from '../../output/count-text.ts';
import { eventRecords } from '../../output/event-records.ts';
import { createProgress, type Progress } from '../../output/progress.ts';
import type { ListResult } from '../../output/result.ts';
import { interruptionText } from '../../wait/verdicts.ts';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Watch batches until every row is placed or has failed',
  arguments: [
    {
      name: 'ids',
      names: 'batches',
      description: 'ids of batches; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    { command: 'errand bulk watch $BATCH', note: 'to the end' },
    { command: 'errand bulk watch $BATCH -o ndjson --timeout 60s', note: 'each change of a row as a record' },
  ],
  operations: ['bulk.get'],
  exitCodes: { 7: 'a row failed', 8: '--timeout passed; the batches go on' },
  related: ['bulk get', 'bulk results', 'bulk retry'],
  async run(context, { ids }) {
    return followResult(context, await readIds(context, 'bulk id', ids));
  },
});

/** Follows batches and shows them as the output asks for; the exit code is 0, 7 or 8. */
export async function followResult(context: Context, ids: readonly string[]): Promise<ListResult> {
  const latest = new Map<string, Batch>();
  const goOn = await goingOn(context, ids, latest);
  const events = stoppable(context, ids, latest, goOn);
  if (context.output.format === 'ndjson') return eventRecords(events, context.clock.now, exitCodeOf);
  const progress = new PlacingProgress(context, new Set(ids).size);
  let summary: FollowSummary = { ...tallyOf([]), open: 0, elapsed_ms: 0 };
  try {
    for await (const event of events) {
      if (event.type === 'gap') context.note(interruptionText(event));
      if (event.type === 'summary') summary = event;
      if (event.type === 'row') progress.tell(latest, event.batch_id);
    }
  } finally {
    progress.end();
  }
  const reasons = await readReasons(context, latest.values());
  return {
    kind: 'list',
    rows: [...latest.values()].map(withoutRows),
    columns: context.output.format === 'table' ? withTheirRows(countedColumns, latest) : batchColumns,
    screen: withTheirRows(batchScreen, latest),
    empty: 'no batch could be read',
    hints: () => conclusions(context, summary, [...latest.values()], reasons, goOn()),
    exitCode: () => exitCodeOf(summary),
    isByName: true,
  };
}

/** Columns of batches that are printed without their rows, read off the batches as they came. */
const withTheirRows = (
  columns: typeof batchColumns,
  latest: ReadonlyMap<string, Batch>,
): typeof batchColumns =>
  columns.map((column) => {
    const { value, mood } = column;
    const whole = (row: { readonly id?: unknown }) => latest.get(String(row.id)) ?? row;
    return {
      ...column,
      ...(value && { value: (row) => value(whole(row)) }),
      ...(mood && { mood: (row) => mood(whole(row)) }),
    };
  });

/** How many rows of all batches have ended; shown once each batch has been read and their sum is known. */
class PlacingProgress {
  readonly #context: Context;
  readonly #batches: number;
  #shown: Batch | undefined;
  #progress: Progress | undefined;

  constructor(context: Context, batches: number) {
    this.#context = context;
    this.#batches = batches;
  }

  /** Counts once each time that a batch has been read, however many of its rows changed. */
  tell(latest: ReadonlyMap<string, Batch>, id: string): void {
    const batch = latest.get(id);
    if (batch === this.#shown || latest.size < this.#batches) return;
    this.#shown = batch;
    const { total, ended: done, failed: bad } = rowsStanding(latest);
    const { io, clock } = this.#context;
    this.#progress ??= createProgress(io, {
      label: 'placing',
      total,
      from: done,
      unit: 'rows',
      now: clock.monotonic,
    });
    this.#progress.update(done, bad > 0 ? `✖ ${countText(bad)} failed` : '');
  }

  end(): void {
    this.#progress?.end();
  }
}
