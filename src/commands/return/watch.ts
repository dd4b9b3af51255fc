import type { ReturnStatus } from '../../api/enums.ts';
import type { Received } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import { paintFor, spinnerEveryMs, spinnerFrame } from '../../cli/output/paint.ts';
import { tableLines } from '../../cli/output/table.ts';
import { plainText } from '../../format/path.ts';
import type { Result } from '../../format/result.ts';
import { eventRecords } from '../../format/result.ts';
import { Following } from '../../orders/watch.ts';
import { Deadline, stopwatch } from '../../platform/clock.ts';
import { UsageError } from '../../platform/errors.ts';
import {
  exitCodeOf,
  type Interruption,
  interruptionText,
  type Pace,
  tallyOf,
  type Verdict,
  type WatchSummary,
  watchWithSummary,
} from '../../platform/poll.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { WatchLabels } from '../../platform/watch-progress.ts';
import type { Context } from '../../run/context.ts';
import { readIds } from '../../run/ids.ts';
import { returnColumns, returnDetailColumns } from './columns.ts';

type ReturnRecord = Received<'return.get'>;

const untilValues = ['approved', 'credited'] as const;
export type Until = (typeof untilValues)[number];

const denied: readonly unknown[] = ['denied'] satisfies ReturnStatus[];
/** Earlier versions of the service call a finished return `completed`. */
const over: readonly unknown[] = ['completed', 'credited'] satisfies ReturnStatus[];

/** Judges the state of one return. An unknown status means that the watch must keep waiting. Pure. */
export function verdictOf({ status }: Pick<ReturnRecord, 'status'>, until: Until): Verdict {
  if (denied.includes(status)) return 'failed';
  if (over.includes(status)) return 'reached';
  return until === 'approved' && status === 'approved' ? 'reached' : 'waiting';
}

interface FollowOptions {
  readonly until: Until;
  readonly pace: Pace;
}

type FollowEvent =
  | { readonly type: 'ready'; readonly returns: number; readonly until: Until }
  | { readonly type: 'change'; readonly return: ReturnRecord; readonly verdict: Verdict }
  | Interruption
  | ({ readonly type: 'summary' } & WatchSummary);

/**
 * Follows returns until each reaches the awaited status or is denied, or until the deadline passes. Yields one `change`
 * per return with a new status. A network interruption yields a `gap` and does not end the watch.
 * @throws ErrandError not_found for an unknown id, or any failure that polling cannot recover from.
 */
async function* followReturns(
  context: Context,
  ids: readonly string[],
  { until, pace }: FollowOptions,
): AsyncGenerator<FollowEvent> {
  const { clock, signal } = context;
  const client = await context.client();
  const elapsedMs = stopwatch(clock);
  const verdicts = new Map<string, Verdict>(ids.map((id) => [id, 'waiting']));
  const statuses = new Map<string, unknown>();
  let requests = 0;
  const isOver = (): boolean => tallyOf(verdicts.values()).waiting === 0;
  const deadline = new Deadline(clock, context.waitMs());
  const hasResponded = (): boolean => statuses.size > 0;
  yield* watchWithSummary<FollowEvent>(
    { type: 'ready', returns: ids.length, until },
    { check, isOver, hasResponded, pace, deadline, clock, signal },
    summary,
  );

  async function* check(): AsyncGenerator<FollowEvent> {
    for (const id of ids.filter((one) => verdicts.get(one) === 'waiting')) {
      requests += 1;
      const { body } = await client.call('return.get', { path: { return_request_id: id } });
      if (statuses.has(id) && statuses.get(id) === body.status) continue;
      const verdict = verdictOf(body, until);
      statuses.set(id, body.status);
      verdicts.set(id, verdict);
      yield { type: 'change', return: body, verdict };
    }
  }

  function summary(): FollowEvent {
    return { type: 'summary', ...tallyOf(verdicts.values()), requests, elapsed_ms: elapsedMs() };
  }
}

/** Wording for watching returns. */
const watched: WatchLabels = {
  one: 'return',
  several: 'returns',
  badly: 'denied',
  verbs: ['was denied', 'were denied'],
};

function followingOf(
  context: Context,
  ids: readonly string[],
  options: FollowOptions,
): Following<FollowEvent> {
  return new Following(context, {
    ids,
    labels: watched,
    command: 'errand return watch',
    flags: options.until === 'approved' ? '' : ` --until ${options.until}`,
    events: followReturns(context, ids, options),
    verdictIn: (event) => (event.type === 'change' ? [event.return.id, event.verdict] : undefined),
  });
}

interface FollowView {
  /** Whether the view itself shows each change. */
  readonly isLive: boolean;
  show(returns: ReadonlyMap<string, ReturnRecord>): Promise<void>;
  /** Ends the view. Pass `settled` if the returns are printed next. Otherwise the last view stays on screen. */
  done(outcome: 'settled' | 'broken off'): void;
}

/** Column of the status. It reserves the full width from the start, so that the columns do not shift. */
const columns = returnColumns.map((column) => (column.name === 'status' ? { ...column, room: 12 } : column));
const nothing: FollowView = { isLive: false, show: async () => {}, done: () => {} };

/** Live table of the followed returns if stdout is a TTY; otherwise a no-op. */
async function followView(context: Context, following: Following<FollowEvent>): Promise<FollowView> {
  const { canDrawLive, createLive } = await import('../../cli/output/live.ts');
  const { io, output } = context;
  if (output.format !== 'table' || !canDrawLive(io)) return nothing;
  const live = await createLive(io);
  const paint = await paintFor(io.stdout.color);
  const elapsedMs = stopwatch(context.clock);
  let lines: readonly string[] = [];
  let frame = 0;
  const draw = (): void => {
    frame += 1;
    const room = (io.stdout.columns() || 100) - 2;
    live.draw(lines, `${spinnerFrame(frame)} ${following.line(elapsedMs(), room)}`);
  };
  const drawn = async (returns: readonly ReturnRecord[]): Promise<readonly string[]> => {
    const { lines } = await tableLines(returns, columns, {
      width: io.stdout.columns(),
      paint,
      now: output.now,
      utc: output.utc === true,
      isScreen: true,
      isOneLine: true,
    });
    return lines;
  };
  const timer = setInterval(draw, spinnerEveryMs);
  let isOver = false;
  return {
    isLive: true,
    async show(returns) {
      if (returns.size > 0) lines = await drawn([...returns.values()]);
      draw();
    },
    done(outcome) {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      live.draw(outcome === 'settled' ? [] : lines);
      live.done();
    },
  };
}

export const watch = defineCommand({
  name: 'watch',
  summary: 'Follow returns until they are decided, or the money is back',
  description:
    'A live table on a terminal; one line for each change in a pipe or with -o ndjson. Once a return is approved, `return labels` has its labels. The money may take as long as the parcel: --until credited waits for it.',
  arguments: [
    {
      name: 'ids',
      names: 'returns',
      description: 'ids of returns; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: {
    until: { kind: 'choice', values: untilValues, description: 'what to wait for (default approved)' },
    interval: { kind: 'duration', description: 'pause between polls; by default it follows what happens' },
  },
  examples: [
    { command: 'errand return watch $RETURN', note: 'until it is decided' },
    {
      command: 'errand return watch $RETURN --until credited -o ndjson',
      note: 'until the money is back; each change as a record',
    },
  ],
  output: [
    { record: 'return.get', when: 'for one id' },
    { list: 'return.get', when: 'for several' },
    { events: 'ReturnWatchEvent' },
    { nothing: true, when: 'where there is none' },
  ],
  operations: ['return.get'],
  exitCodes: { 7: 'a return was denied', 8: '--timeout passed; the returns go on' },
  related: ['return get', 'return labels', 'order watch'],
  async run(context, { ids, until = 'approved', interval }) {
    if (interval === 0)
      throw new UsageError('--interval 0s would ask the service without a pause; 500ms is short enough');
    const requested = await readIds(context, 'return id', ids);
    if (requested.length === 0) return { kind: 'none', hints: ['no return to watch'] };
    const pace = interval === undefined ? defaultPace : { minMs: interval, maxMs: interval };
    const following = followingOf(context, requested, { until, pace });
    if (context.output.format === 'ndjson')
      return eventRecords(following.events(), context.clock.now, exitCodeOf);
    if (context.output.format === 'table' && !context.io.stdout.isTerminal)
      return changeLines(context, following);
    return finalState(context, requested, following);
  },
});

/** Default polling interval. Polling is slow, because a return takes longer than an order. */
const defaultPace = { minMs: 1_000, maxMs: 60_000 };

/** Prints one plain line per change: time, return, status, credited amount. */
function changeLines(context: Context, following: Following<FollowEvent>): Result {
  let code = 0;
  return { kind: 'stream', chunks: chunks(), exitCode: () => code };

  async function* chunks(): AsyncGenerator<string> {
    for await (const event of following.events()) {
      if (event.type === 'change') yield `${changeLine(context, event.return)}\n`;
      else if (event.type === 'summary') code = following.conclude(event);
      else if (event.type !== 'ready') context.note(interruptionText(event));
    }
  }
}

const changeLine = ({ clock }: Context, { id, status, order_id }: ReturnRecord): string =>
  safeText(
    [new Date(clock.now()).toISOString(), id, plainText(status), `order ${plainText(order_id)}`].join('  '),
  );

/** Returns the final state of the returns, showing a live table on a TTY until then. */
async function finalState(
  context: Context,
  ids: readonly string[],
  following: Following<FollowEvent>,
): Promise<Result> {
  const returns = new Map<string, ReturnRecord>();
  const view = await followView(context, following);
  let exitCode = 0;
  try {
    for await (const event of following.events()) {
      if (event.type === 'change') {
        returns.set(event.return.id, event.return);
        if (!view.isLive) context.note(changeLine(context, event.return));
      }
      if (event.type === 'gap' || event.type === 'reconnected') context.note(interruptionText(event));
      await view.show(returns);
      if (event.type !== 'summary' || context.signal.aborted) continue;
      view.done('settled');
      exitCode = following.conclude(event);
    }
  } finally {
    view.done('broken off');
  }
  const [only] = [...returns.values()];
  if (ids.length === 1 && only !== undefined)
    return { kind: 'record', record: only, columns: returnDetailColumns, exitCode };
  return {
    kind: 'list',
    rows: [...returns.values()],
    columns: returnColumns,
    exitCode: () => exitCode,
    isByName: true,
  };
}
