import type { Context } from '../context.ts';
import { eventRecords } from '../output/event-records.ts';
import type { Result } from '../output/result.ts';
import { shellWord } from '../shell-word.ts';
import { untilStopped } from '../wait/stopped.ts';
import { exitCodeOf, goesOn, interruptionText, type WatchSummary } from '../wait/verdicts.ts';
import { whereFlags } from '../where-flags.ts';
import type { OrderRecord } from './order-record.ts';
import { orderList, orderView } from './screen.ts';
import { type WatchEvent, type WatchOptions, watchOrders } from './watch.ts';
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
  const events = stoppable(context, ids, {
    until: options.until,
    allowMissing: options.allowMissing ?? false,
    timeoutMs: context.waitMs(),
    pace: intervalMs === undefined ? defaultPace : { shortestMs: intervalMs, longestMs: intervalMs },
  });
  if (isStream) return eventRecords(events, context.clock.now, exitCodeOf);
  if (context.output.format === 'table' && !context.io.stdout.isTerminal) return changeLines(context, events);
  return finalState(context, ids, events);
}

/** The events of a watch; where it is interrupted, what ends it says what goes on, and how to follow it again. */
function stoppable(
  context: Context,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const ended = new Set<string>();
  return untilStopped(counted(), context.signal, () => {
    const open = ids.filter((id) => !ended.has(id));
    const until = options.until === 'delivered' ? '' : ` --until ${options.until}`;
    const command = `errand order watch ${open.map(shellWord).join(' ')}${until}${whereFlags(context)}`;
    const [only] = ids;
    const message =
      only !== undefined && ids.length === 1
        ? `stopped watching; the order ${only} goes on`
        : `stopped watching; ${ended.size} of ${ids.length} orders had ended, the others go on`;
    return { message, next: { command, when: 'to go on watching' } };
  });

  async function* counted(): AsyncGenerator<WatchEvent> {
    for await (const event of watchOrders(context, ids, options)) {
      if (event.type === 'change' && event.verdict !== 'waiting') ended.add(event.order.id);
      yield event;
    }
  }
}

/** One plain line for each change, for a pipe. */
function changeLines(context: Context, events: AsyncGenerator<WatchEvent>): Result {
  let code = 0;
  async function* chunks(): AsyncGenerator<string> {
    for await (const event of events) {
      if (event.type === 'change') yield `${changeLine(event, context.clock.now())}\n`;
      else if (event.type === 'summary') code = conclude(context, event);
      else if (event.type !== 'ready') context.note(interruptionText(event));
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
  // In the order in which they were given, as the live table had them.
  const rows = [...new Set(ids)].flatMap((id) => orders.get(id) ?? []);
  const [only] = rows;
  if (ids.length === 1 && only !== undefined) return { kind: 'record', record: only, ...orderView, exitCode };
  return {
    kind: 'list',
    rows,
    ...orderList,
    exitCode: () => exitCode,
    isByName: true,
  };
}

function conclude(context: Context, summary: WatchSummary): number {
  if (summary.waiting > 0 && !context.signal.aborted)
    context.note(`--timeout passed; ${goesOn(summary.waiting, 'order', 'orders')}`);
  return exitCodeOf(summary);
}
