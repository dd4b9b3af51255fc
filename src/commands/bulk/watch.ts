import type { Context } from '../../context.ts';
import { createProgress, type Progress } from '../../output/progress.ts';
import type { ListResult, Result, Row } from '../../output/result.ts';
import { whereFlags } from '../../where-flags.ts';
import { defineCommand } from '../define.ts';
import { readIds } from '../ids.ts';
import { batchColumns } from './columns.ts';
import {
  type Batch,
  exitCodeOf,
  type FollowSummary,
  followBatches,
  hasEarlierOrder,
  isFailed,
  tallyOf,
  withoutRows,
} from './follow.ts';
import { rowsText } from './spend.ts';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Follow batches until every row is an order that was placed, or has failed',
  arguments: [
    { name: 'ids', description: 'ids of batches; - reads them from stdin', required: true, variadic: true },
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
export async function followResult(context: Context, ids: readonly string[]): Promise<Result> {
  const latest = new Map<string, Batch>();
  if (context.output.format === 'ndjson') return eventStream(context, ids, latest);
  const progress = new PlacingProgress(context, new Set(ids).size);
  let summary: FollowSummary = { rows: 0, placed: 0, failed: 0, waiting: 0, open: 0, elapsed_ms: 0 };
  try {
    for await (const event of followBatches(context, ids, latest)) {
      if (event.type === 'gap') context.note(`the service does not answer, still trying: ${event.message}`);
      if (event.type === 'summary') summary = event;
      if (event.type === 'row') progress.tell(latest, event.batch_id);
    }
  } finally {
    progress.end();
  }
  return {
    kind: 'list',
    rows: [...latest.values()].map(withoutRows),
    columns: batchColumns,
    empty: 'no batch could be read',
    hints: () => conclusions(context, summary, latest),
    exitCode: () => exitCodeOf(summary),
  };
}

/** How many rows of all batches have ended; shown once each batch has been read and their sum is known. */
class PlacingProgress {
  readonly #context: Context;
  readonly #batches: number;
  #told: Batch | undefined;
  #progress: Progress | undefined;

  constructor(context: Context, batches: number) {
    this.#context = context;
    this.#batches = batches;
  }

  /** Counts once each time that a batch has been read, however many of its rows changed. */
  tell(latest: ReadonlyMap<string, Batch>, id: string): void {
    const batch = latest.get(id);
    if (batch === this.#told || latest.size < this.#batches) return;
    this.#told = batch;
    const { placed, failed, rows: total } = tallyOf(latest);
    const done = placed + failed;
    const { io, clock } = this.#context;
    this.#progress ??= createProgress(io, {
      label: 'placing',
      total,
      from: done,
      unit: 'rows',
      now: clock.monotonic,
    });
    this.#progress.update(done);
  }

  end(): void {
    this.#progress?.end();
  }
}

function eventStream(context: Context, ids: readonly string[], latest: Map<string, Batch>): ListResult {
  let code = 0;
  async function* rows(): AsyncGenerator<Row> {
    for await (const event of followBatches(context, ids, latest)) {
      if (event.type === 'summary') code = exitCodeOf(event);
      yield { ...event, at: new Date(context.clock.now()).toISOString() };
    }
  }
  return { kind: 'list', rows: rows(), columns: [], exitCode: () => code };
}

function conclusions(
  context: Context,
  { rows, placed, open, elapsed_ms: ms }: FollowSummary,
  latest: ReadonlyMap<string, Batch>,
): string[] {
  const seconds = Math.max(1, Math.round(ms / 1000));
  const batches = [...latest.values()];
  return [
    `${rowsText(placed)} of ${rows.toLocaleString('en-US')} placed in ${seconds} s`,
    ...(open > 0 ? [`--timeout passed; ${open === 1 ? 'one batch goes' : `${open} batches go`} on`] : []),
    ...endings(context, batches, hasEarlierOrder, 'ordered before, and not again; the order of each', 'get'),
    ...endings(context, batches, isFailed, 'failed', 'retry'),
  ];
}

/** How many rows ended in one way, and the command for each batch that has some. */
function endings(
  context: Context,
  batches: readonly Batch[],
  isOne: (row: Batch['rows'][number], batch: Batch) => boolean,
  text: string,
  verb: string,
): string[] {
  const found = batches.map((batch) => ({
    batch,
    count: batch.rows.filter((row) => isOne(row, batch)).length,
  }));
  const count = found.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return [];
  const where = whereFlags(context);
  const commands = found
    .filter((one) => one.count > 0)
    .map(({ batch }) => `errand bulk ${verb} ${batch.id}${where}`);
  return [`${rowsText(count)} ${text}: ${commands.join('; ')}`];
}
