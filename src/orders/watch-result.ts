import type { Context } from '../context.ts';
import { exitCodes } from '../errors.ts';
import type { ListResult, Result } from '../output/result.ts';
import { shellWord } from '../shell-word.ts';
import { stoppedWith } from '../wait/stopped.ts';
import { whereFlags } from '../where-flags.ts';
import type { OrderRecord } from './order-record.ts';
import { orderList, orderView } from './screen.ts';
import { type WatchEvent, type WatchOptions, type WatchSummary, watchOrders } from './watch.ts';
import { defaultPace, type Until } from './watch-policy.ts';
import { changeLine, watchView } from './watch-view.ts';

interface ResultOptions {
  readonly until: Until;
  readonly intervalMs?: number;
  readonly allowMissing?: boolean;
  /** Whether the ids are those of every open order; there may be none. */
  readonly isOpen?: boolean;
}

/** Follows orders and shows them as the output asks for; the exit code is 0, 7 or 8. */
export async function watchResult(
  context: Context,
  ids: readonly string[],
  options: ResultOptions,
): Promise<Result> {
  const { intervalMs, isOpen = false } = options;
  const isStream = context.output.format === 'ndjson';
  // A program that follows all that is open is owed the first and the last record, however many orders there are.
  if (ids.length === 0 && !(isOpen && isStream))
    return {
      kind: 'none',
      hints: [isOpen ? 'no order is open' : 'no order to watch; --open watches every open one'],
    };
  const events = untilStopped(context, ids, {
    until: options.until,
    allowMissing: options.allowMissing ?? false,
    timeoutMs: context.waitMs(),
    pace: intervalMs === undefined ? defaultPace : { shortestMs: intervalMs, longestMs: intervalMs },
  });
  if (isStream) return eventStream(context, events);
  if (context.output.format === 'table' && !context.io.stdout.isTerminal) return changeLines(context, events);
  return finalState(context, ids, events);
}

/** The events of a watch; where it is interrupted, what ends it says what goes on, and how to follow it again. */
async function* untilStopped(
  context: Context,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const ended = new Set<string>();
  try {
    for await (const event of watchOrders(context, ids, options)) {
      if (event.type === 'change' && event.verdict !== 'waiting') ended.add(event.order.id);
      yield event;
    }
  } catch (error) {
    const open = ids.filter((id) => !ended.has(id));
    const until = options.until === 'delivered' ? '' : ` --until ${options.until}`;
    const command = `errand order watch ${open.map(shellWord).join(' ')}${until}${whereFlags(context)}`;
    const [only] = ids;
    const message =
      only !== undefined && ids.length === 1
        ? `stopped watching; the order ${only} goes on`
        : `stopped watching; ${ended.size} of ${ids.length} orders had ended, the others go on`;
    throw stoppedWith(error, context.signal, message, { command, when: 'to go on watching' });
  }
}

/** Each event as a record, from `ready` to `summary`. */
function eventStream(context: Context, events: AsyncGenerator<WatchEvent>): ListResult {
  let code = 0;
  async function* rows() {
    for await (const event of events) {
      if (event.type === 'summary') code = exitCodeOf(event);
      yield { ...event, at: new Date(context.clock.now()).toISOString() };
    }
  }
  return { kind: 'list', rows: rows(), columns: [], exitCode: () => code };
}

/** One plain line for each change, for a pipe. */
function changeLines(context: Context, events: AsyncGenerator<WatchEvent>): Result {
  let code = 0;
  async function* chunks(): AsyncGenerator<string> {
    for await (const event of events) {
      if (event.type === 'change') yield `${changeLine(event, context.clock.now())}\n`;
      else if (event.type === 'summary') code = conclude(context, event);
      else noteGap(context, event);
    }
  }
  return { kind: 'stream', chunks: chunks(), exitCode: () => code };
}

/** The orders as they stand at the end; on a terminal a live table until then. */
async function finalState(
  context: Context,
  ids: readonly string[],
  events: AsyncGenerator<WatchEvent>,
): Promise<Result> {
  const orders = new Map<string, OrderRecord>();
  const view = await watchView(context, ids);
  let exitCode = 0;
  try {
    for await (const event of events) {
      if (event.type === 'change') orders.set(event.order.id, event.order);
      await view.show(event, orders);
      if (event.type !== 'summary' || context.signal.aborted) continue;
      await view.done('settled');
      exitCode = conclude(context, event);
    }
  } finally {
    await view.done('broken off');
  }
  const [only] = [...orders.values()];
  if (ids.length === 1 && only !== undefined) return { kind: 'record', record: only, ...orderView, exitCode };
  return {
    kind: 'list',
    rows: [...orders.values()],
    ...orderList,
    exitCode: () => exitCode,
    isByName: true,
  };
}

function exitCodeOf(summary: WatchSummary): number {
  if (summary.waiting > 0) return exitCodes.deadline;
  return summary.failed > 0 ? exitCodes.ended_badly : 0;
}

function conclude(context: Context, summary: WatchSummary): number {
  if (summary.waiting > 0 && !context.signal.aborted)
    context.note(
      `--timeout passed; ${summary.waiting === 1 ? 'one order goes' : `${summary.waiting} orders go`} on`,
    );
  return exitCodeOf(summary);
}

function noteGap(context: Context, event: WatchEvent): void {
  if (event.type === 'gap') context.note(`the service does not respond, still trying: ${event.message}`);
  if (event.type === 'reconnected')
    context.note(`the service responds again after ${Math.round(event.gap_ms / 1000)} s`);
}
