import type { Printed } from '../../api/outputs/printed.ts';
import { recordOutcomes } from '../../bulk/needs/batch-outcome.ts';
import type { Batch } from '../../bulk/upload/batch.ts';
import { tallyOf } from '../../bulk/upload/batch.ts';
import { batchColumns, batchScreen, countedColumns, readReasons } from '../../bulk/upload/columns.ts';
import {
  exitCodeOf,
  type FollowSummary,
  goingOn,
  rowsProgress,
  stoppable,
  uploadSummary,
  withoutRows,
} from '../../bulk/upload/follow.ts';
import {
  batchesArgument,
  completingSteps,
  type NamedBatches,
  namedBatches,
  unsentLines,
} from '../../bulk/upload/named.ts';
import { retryLines } from '../../bulk/upload/retried.ts';
import { reusedKeyWarnings } from '../../bulk/upload/uploaded-rows.ts';
import { defineCommand } from '../../cli/define.ts';
import { createProgress } from '../../cli/output/progress.ts';
import { countText } from '../../format/counts.ts';
import type { ListResult } from '../../format/result.ts';
import { eventRecords } from '../../format/result.ts';
import { interruptionText } from '../../platform/poll.ts';
import type { Context, Progress } from '../../run/context.ts';

/** Output of the commands that follow batches. */
export const followedOutput = [
  { list: 'bulk.list' },
  { events: 'BatchWatchEvent' },
] as const satisfies readonly Printed[];

export const watch = defineCommand({
  name: 'watch',
  summary: 'Watch batches until every row is placed or has failed',
  arguments: [batchesArgument],
  examples: [
    { command: 'errand bulk watch december', note: 'all batches of an upload, to the end' },
    { command: 'errand bulk watch $BATCH -o ndjson --timeout 60s', note: 'each change of a row as a record' },
  ],
  output: followedOutput,
  operations: ['bulk.get'],
  exitCodes: {
    7: 'a row failed, was withdrawn, or was not sent yet',
    8: '--timeout passed; the batches go on',
    10: 'a failed row was ordered since, and that order is in doubt',
  },
  related: ['bulk get', 'bulk results', 'bulk retry'],
  async run(context, { ids }) {
    const { database } = context.settings;
    if (!database) return followResult(context, await namedBatches(context, ids));
    const { untilPlaced } = await import('../../bulk/workers/place-together.ts');
    const leftMs = await untilPlaced(context, ids);
    return followResult({ ...context, waitMs: () => leftMs }, await namedBatches(context, ids));
  },
});

/** Follows batches and shows them in the requested format; exits with 0, 7, 8 or 10. */
export async function followResult(context: Context, named: NamedBatches): Promise<ListResult> {
  const latest = new Map<string, Batch>();
  const goOn = await goingOn(context, named, latest);
  const events = stoppable(context, named, latest, goOn);
  if (context.output.format === 'ndjson')
    return eventRecords(events, context.clock.now, (summary) =>
      exitCodeOf(summary, named.counted(latest.values())),
    );
  const progress = new PlacingProgress(context, named);
  let summary: FollowSummary = { ...tallyOf([]), open: 0, unsent: 0, elapsed_ms: 0 };
  try {
    for await (const event of events) {
      if (event.type === 'gap') context.note(interruptionText(event));
      if (event.type === 'summary') summary = event;
      if (event.type === 'row') progress.update(latest, event.batch_id);
    }
  } finally {
    progress.end();
  }
  await recordOutcomes(context, latest.values());
  const counted = named.counted(latest.values());
  const reasons = await readReasons(context, counted);
  const retry = await retryLines(context, { batches: counted, named });
  const keyHints = await reusedKeyWarnings(context, latest.values());
  const byId = new Map(counted.map((batch) => [batch.id, batch]));
  return {
    kind: 'list',
    rows: [...latest.values()].map(withoutRows),
    columns: context.output.format === 'table' ? withTheirRows(countedColumns, byId) : batchColumns,
    screen: withTheirRows(batchScreen, byId),
    empty: 'no batch could be read',
    hints: () => [
      ...uploadSummary(context, summary, { batches: counted, named, reasons, retry, goOn: goOn() }),
      ...keyHints,
      ...unsentHints(context, named),
    ],
    exitCode: () => exitCodeOf(summary, counted),
    isByName: true,
  };
}

/** Describes rows not yet sent, with the commands that send them. */
const unsentHints = (context: Context, { uploads }: NamedBatches): string[] => [
  ...unsentLines(uploads),
  ...completingSteps(context, uploads).map(({ command }) => `go on: ${command}`),
];

/**
 * Columns for batches that are printed without their rows. Values that need the rows come from the latest complete
 * version of each batch.
 */
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

/**
 * Counts finished rows across all batches. The count appears once every batch has been read, because only then is the
 * total known.
 */
class PlacingProgress {
  readonly #context: Context;
  readonly #named: NamedBatches;
  #shown: Batch | undefined;
  #progress: Progress | undefined;

  constructor(context: Context, named: NamedBatches) {
    this.#context = context;
    this.#named = named;
  }

  /** Updates the display once per read of a batch, however many of its rows have changed. */
  update(latest: ReadonlyMap<string, Batch>, id: string): void {
    const batch = latest.get(id);
    if (batch === this.#shown || latest.size < this.#named.ids.length) return;
    this.#shown = batch;
    const { total, ended: done, failed: bad } = rowsProgress(this.#named.counted(latest.values()));
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
